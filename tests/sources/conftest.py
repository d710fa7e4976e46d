from .docusaurus_build import built_cases, built_handbook

__all__ = ["built_cases", "built_handbook"]

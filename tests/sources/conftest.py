from .docusaurus_build import built_handbook

__all__ = ["built_handbook"]

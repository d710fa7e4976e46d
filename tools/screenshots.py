"""Take the pictures of the search page in the docs, from a service over the documentation of Docusaurus.

For example:
    pertinent index docusaurus/website/docs --base-url https://docusaurus.io/docs
    pertinent serve &
    python tools/screenshots.py http://127.0.0.1:8000 docs/images
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]

DESKTOP, PHONE = (1440, 900), (390, 844)


class Moment(NamedTuple):
    """What a reader types, and how the page looks then."""

    name: str
    text: str
    size: tuple[int, int] = DESKTOP
    presses_enter: bool = True
    is_dark: bool = False


MOMENTS = [
    Moment("suggestions", "swizz", presses_enter=False),
    Moment("misspelled", "vesrioning"),
    Moment("half-a-name", "docusaurus.conf"),
    Moment("question", "how to access an environment variable in a component"),
    Moment("phone-dark", "how to deploy to github pages", PHONE, is_dark=True),
]


def take_screenshot(browser: Browser, address: str, moment: Moment, folder: Path) -> None:
    """Type the text into the page, and save a picture of it when the passages are there."""
    width, height = moment.size
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if moment.is_dark else "light"
    )
    page.goto(address)
    page.wait_for_selector(".example")
    page.keyboard.type(moment.text)
    if moment.presses_enter:
        page.keyboard.press("Enter")
    page.wait_for_load_state("networkidle")
    page.wait_for_selector(".hit" if moment.presses_enter else ".suggestion")
    page.screenshot(path=folder / f"page-{moment.name}.png")
    page.close()


def main(address: str, folder: Path) -> None:
    """Take all pictures with the Chromium of the system."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)
        for moment in MOMENTS:
            take_screenshot(browser, address, moment, folder)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

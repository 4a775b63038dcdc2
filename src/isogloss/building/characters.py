"""Character references of HTML and XML, such as `&nbsp;` and `&#160;`."""

import re
from html import unescape

# MediaWiki decodes only references that end with a semicolon. Numbers are short, because Python refuses long ones.
_REFERENCE = re.compile(r"&(?:#(?:\d{1,7}|[xX][0-9a-fA-F]{1,6})|[A-Za-z][A-Za-z0-9]{1,31});")
_NUMERIC = re.compile(r"&#(?:\d{1,7}|x[0-9a-fA-F]{1,6});")


def decode_references(text: str) -> str:
    """Return text with the characters that its references name; unknown references remain."""
    return _REFERENCE.sub(lambda match: unescape(match[0]), text) if "&" in text else text


def decode_xml(text: str) -> str:
    """Return XML text without its escapes; those of wikitext, such as `&amp;nbsp;`, remain as `&nbsp;`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "&" not in text:
        return text
    if "&#" in text:
        text = _NUMERIC.sub(lambda match: unescape(match[0]), text)
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
    return text.replace("&amp;", "&")

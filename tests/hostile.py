"""Hostile system names, shared by the tests of every output."""

import re

NAMES = {
    "control": "a\x00b\x07c\x08d\x7f",
    "terminal": "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b0m",
    "newline": "a\n\\input{/etc/passwd}\r\nb\u2028c\x85d",
    "backslash": "C:\\x\\u12\\",
    "quotes": 'a\\" + alert(1) + "',
    "equals": "=cmd|' /C calc'!A0",
    "plus": "+1+cmd()",
    "minus": "-1-cmd()",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "html": "</script></title><img src=x onerror='window.hacked = 1'><!--",
    "markdown": "[x](javascript:alert(1)) `c` **b** | __i__ ~~s~~",
    "heading": "# h",
    "latex": "\\write18{id} $x$ % & # _ { } ~ ^",
    "option": "[5cm] of a row",
    "markup": "[bold red]x[/] :bomb:",
    "bidi": "\u202eevil\u2066",
    "surrogate": "a\udcffb",
    "noncharacter": "a\ufffe\uffffb",
    "template": "{{data}} {title} %s",
    "long": "x" * 5_000,
    "wide": "漢" * 400,
    "blank": " ",
}

# Characters that no output may contain: controls (except line feeds), direction overrides, lone surrogates.
ACTING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")

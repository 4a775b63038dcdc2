"""Letters directly after a link that MediaWiki shows as part of it, as in `[[city]]s`, by language.

The classes follow MediaWiki's message files. Languages that write without spaces have only a to z.
"""

import re
from functools import cache

_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
_FURTHER = {
    "af": "äöüïëéèêîôûáíóú",
    "ar": "ء-ي",
    "az": "çəğıöşü",
    "bg": _CYRILLIC,
    "bn": "ঀ-৿",
    "de": "äöüß",
    "el": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",
    "es": "áéíóúñ",
    "et": "äöõšüž",
    "fa": "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیآأئؤة\u200c",
    "fi": "äö",
    "fr": "àâçéèêîôûäëïöüùœ",
    "gu": "઀-૿",
    "he": "א-ת",
    "hi": "ऀ-ॣ०-ॿ",
    "hu": "áéíóúöüőű",
    "it": "àéèíîìóòúù",
    "ka": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
    "kk": f"{_CYRILLIC}әғқңөұүһі",
    "lt": "ąčęėįšųūž",
    "ml": "ഀ-ൿ",
    "mr": "ऀ-ॣ०-ॿ",
    "nl": "äöüïëéèà",
    "pa": "਀-੿",
    "pl": "ęóąśłżźćń",
    "pt": "áâãàéêçíòóôõúü",
    "ro": "ăâîşţșț",
    "ru": _CYRILLIC,
    "ta": "஀-௿",
    "te": "ఀ-౿",
    "tr": "çğıöşüâîû",
    "uk": f"{_CYRILLIC}ґєіїʼ’'",
    "ur": "ابپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوؤہھیئےآأءۃ",
    "vi": "àâçéèêîôûäëïöüù",
}


@cache
def trail_of(code: str) -> re.Pattern[str]:
    """Return the pattern of the letters that continue a link in a language."""
    return re.compile(f"[a-z{_FURTHER.get(code, '')}]+")

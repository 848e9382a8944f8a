"""What tests of all pages share: texts in six scripts, widths of screens, and what no page may do on any of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import write

ENGLISH = (
    "the old house stands near the river .",
    "we would like to thank everybody who has answered our questions , because the answers have helped us to "
    "understand what the committee should do next year .",
    "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen is a word .",
)
SCRIPTS = {
    "fr": (
        "la vieille maison est près de la rivière .",
        "nous voudrions remercier tous ceux qui ont répondu à nos questions , car les réponses nous ont aidés à "
        "comprendre ce que le comité devrait faire l' année prochaine .",
        "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen est un mot .",
    ),
    "he": (
        "הבית הישן עומד ליד הנהר .",
        "ברצוננו להודות לכל מי שענה על שאלותינו , כי התשובות עזרו לנו להבין מה הוועדה צריכה לעשות בשנה הבאה .",
        "זאת מילה ארוכה .",
    ),
    "ar": (
        "البيت القديم يقف بالقرب من النهر .",
        "نود أن نشكر كل من أجاب عن أسئلتنا ، لأن الإجابات ساعدتنا على فهم ما يجب أن تفعله اللجنة في العام المقبل .",
        "هذه كلمة طويلة .",
    ),
    "hi": (
        "पुराना घर नदी के पास खड़ा है ।",
        "हम उन सभी को धन्यवाद देना चाहते हैं जिन्होंने हमारे प्रश्नों के उत्तर दिए , क्योंकि उत्तरों ने हमें यह "
        "समझने में मदद की कि समिति को अगले वर्ष क्या करना चाहिए ।",
        "यह एक लंबा शब्द है ।",
    ),
    "zh": (
        "老 房子 在 河 边 。",
        "我们 要 感谢 所有 回答 了 我们 问题 的 人 ， 因为 这些 答案 帮助 我们 理解 委员会 明年 应该 做 什么 。",
        "这 是 一个 长 词 。",
    ),
    "th": (
        "บ้าน เก่า ตั้ง อยู่ ใกล้ แม่น้ำ",
        "เรา ขอ ขอบคุณ ทุก คน ที่ ตอบ คำถาม ของ เรา เพราะ คำตอบ ช่วย ให้ เรา เข้าใจ ว่า คณะกรรมการ ควร ทำ อะไร ใน ปี หน้า",
        "นี่ เป็น คำ ยาว",
    ),
}  # fmt: skip
"""Three sentences in each language, the translations of ENGLISH; one of its words is very long."""

SCREENS = {360: 740, 768: 1024, 1280: 800, 1920: 1080}
"""Heights in pixels by widths: a telephone, a tablet, and two desks."""

SCREEN_AND_SCHEME = [(360, "light"), (768, "dark"), (1280, "light"), (1920, "dark")]

ON_SCREENS = [
    pytest.param(language, width, scheme, marks=() if number in (0, 1 + at % 3) else pytest.mark.nightly)
    for at, language in enumerate(SCRIPTS)
    for number, (width, scheme) in enumerate(SCREEN_AND_SCHEME)
]  # by night all languages on all screens, by day each on the telephone and on one other


def screen(width: int, scheme: str) -> dict[str, Any]:
    """Settings of a browser."""
    return {"viewport": {"width": width, "height": SCREENS[width]}, "color_scheme": scheme}


def write_texts(folder: Path, language: str, times: int = 1) -> tuple[Path, Path]:
    """The English sentences and their translations, as files."""
    sides = {"en": ENGLISH * times, language: SCRIPTS[language] * times}
    one, other = (write(folder / f"text.{name}", *lines) for name, lines in sides.items())
    return one, other


_CUT = """() => {
  const cut = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const owner = node.parentElement;
    if (!node.data.trim() || owner.closest("script, style, noscript, option, .unseen, dialog:not([open])")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width, height }) => width && height);
    if (!boxes.length || getComputedStyle(owner).visibility === "hidden") continue;
    let [left, right] = [0, innerWidth];
    let scrolled = false;
    for (let around = owner; around !== document.body; around = around.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(around);
      if (textOverflow === "ellipsis" || around.matches(".picture:has([data-layout=matrix])")) scrolled = true;
      if (overflowX === "visible") continue;
      const box = around.getBoundingClientRect();
      [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    }
    if (!scrolled && boxes.some((box) => box.left < left - 1 || box.right > right + 1)) cut.push(node.data.trim());
  }
  return cut;
}"""


def assert_fits(page: Any) -> None:
    """Nothing sticks out of the page, and no word is cut, but in matrices, which scroll, and where dots say so."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page scrolls sideways"
    assert page.evaluate(_CUT) == []


def assert_begins_well(page: Any) -> None:
    """The page is opened at its top, and what follows the header is in sight."""
    assert page.evaluate("scrollY") == 0
    header = page.locator("header").bounding_box()
    assert header["y"] >= 0
    assert header["y"] + header["height"] < 0.6 * page.viewport_size["height"]

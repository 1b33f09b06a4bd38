"""Word a verdict as JUnit XML, for processes that were never started or left no report."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from seatrial_build.core.verdicts import Judgement


def junit(address: str, kind: str, judgement: Judgement) -> bytes:
    """Return a report of one test. It holds no time: equal verdicts give equal bytes.

    *failed* is a failure; every other verdict but *passed* is an error, because it says nothing about
    the product.
    """
    failed = judgement.verdict == "failed"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<testsuite name={quoteattr(kind)} tests="1" failures="{int(failed)}" '
        f'errors="{int(not failed and not judgement.passed)}">',
        f"<testcase classname={quoteattr(kind)} name={quoteattr(address)}>",
    ]
    if not judgement.passed:
        element = "failure" if failed else "error"
        text = "\n".join(part for part in (judgement.reason, judgement.cure) if part)
        lines.append(
            f"<{element} type={quoteattr(judgement.verdict)} message={quoteattr(judgement.headline)}>"
            f"{escape(text)}</{element}>"
        )
    lines += ["</testcase>", "</testsuite>", ""]
    return "\n".join(lines).encode()

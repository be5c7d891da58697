"""The maths renderer in Sphinx: it marks each formula, which ``typeset.mjs`` sets later.

KaTeX sets the formulas when the site is finished.

A formula comes out as ``<span class="math" data-tex="…">`` in a line and ``<div class="math"
data-tex="…">`` on its own; output of code cells may use the same two.  Until it is typeset, the
element's text is the TeX itself.
"""

from __future__ import annotations

import re

from docutils import nodes

# amsmath's numbered environments: the number is Sphinx's business (it can be referred to), so none
# is KaTeX's.
NUMBERED = re.compile(r"\\(begin|end)\{(align|alignat|equation|gather|multline|CD)\}")


def plain_tex(tex: str, nowrap: bool = False) -> str:
    r"""Return one display formula from the text of a maths block.

    Blank lines part several formulas and ``\\`` breaks lines, as Sphinx documents for its maths
    directive.

    >>> print(plain_tex(r"\begin{align} a &= b \\ c &= d \end{align}", nowrap=True))
    \begin{align*} a &= b \\ c &= d \end{align*}
    >>> print(plain_tex(r"a &= b \\ c &= d"))
    \begin{aligned}a &= b \\ c &= d\end{aligned}
    >>> print(
    ...     plain_tex('''a = b
    ...
    ... c = d''')
    ... )
    \begin{gathered}a = b \\ c = d\end{gathered}
    """
    # multline has no counterpart in KaTeX; gather is the nearest.
    tex = NUMBERED.sub(lambda m: f"\\{m[1]}{{{m[2].replace('multline', 'gather')}*}}", tex.strip())
    tex = tex.replace("{CD*}", "{CD}")
    if nowrap:
        return tex
    parts = [part.strip() for part in re.split(r"\n\s*\n", tex) if part.strip()]
    parts = [
        rf"\begin{{aligned}}{p}\end{{aligned}}" if r"\\" in p and r"\begin" not in p else p
        for p in parts
    ]
    return (
        parts[0]
        if len(parts) == 1
        else r"\begin{gathered}" + r" \\ ".join(parts) + r"\end{gathered}"
    )


def visit_math(self, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(
        self.starttag(
            node,
            "span",
            "",
            CLASS="math notranslate nohighlight",
            **{"data-tex": node.astext().strip()},
        )
    )
    self.body.append(self.encode(node.astext()) + "</span>")
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    """Write a formula on its own, with its number and a link to itself where it has a label."""
    tex = plain_tex(node.astext(), bool(node.get("nowrap") or node.get("no-wrap")))
    self.body.append(self.starttag(node, "div", CLASS="math-block notranslate nohighlight"))
    self.body.append(f'<div class="math" data-tex="{self.attval(tex)}">{self.encode(tex)}</div>')
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer under the name that _config.yml asks for."""
    app.add_html_math_renderer(
        "katex", inline_renderers=(visit_math, None), block_renderers=(visit_displaymath, None)
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

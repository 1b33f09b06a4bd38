"""How the pages look: one style sheet within each page, light and dark, for a phone as for a wide screen."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2127;--quiet:#57606a;--line:#d5dae0;--back:#fff;--soft:#f5f6f8;--link:#0b57b0;
--good:#17692f;--bad:#b3211b;--mine:#eaf2fc}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--quiet:#a3adb8;--line:#3a424b;--back:#15181c;--soft:#1e2329;
--link:#8fbffb;--good:#7bd48f;--bad:#ff9d94;--mine:#1b2a3c}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);background:var(--back);
overflow-wrap:anywhere}
a{color:var(--link)}a:focus-visible,button:focus-visible,summary:focus-visible,textarea:focus-visible{outline:3px solid
var(--link);outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:.5rem;background:var(--back);padding:.25rem .5rem}
header.top{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;
padding:.6rem 1rem;border-bottom:1px solid var(--line)}
header.top form{margin:0}header.top .who{color:var(--quiet)}
main{max-width:50rem;margin:0 auto;padding:1rem}
h1{font-size:1.45rem;line-height:1.25;margin:.5rem 0 .25rem}h2{font-size:1.05rem;margin:1.5rem 0 .5rem}
.quiet{color:var(--quiet);font-size:.875rem}
ul.list{list-style:none;margin:1rem 0;padding:0}ul.list li{border-top:1px solid var(--line)}
ul.list a{display:flex;justify-content:space-between;gap:1rem;padding:.6rem .25rem;text-decoration:none;color:var(--ink)}
ul.list a:hover .name{text-decoration:underline}ul.list .name{font-weight:550}ul.list .quiet{white-space:nowrap}
ol.talk{list-style:none;margin:1rem 0;padding:0}
ol.talk>li{margin:.75rem 0}
.said{border:1px solid var(--line);border-radius:.6rem;padding:.6rem .8rem;background:var(--soft)}
.said.person{background:var(--mine)}.said.error{border-color:var(--bad)}
.said .by{display:flex;justify-content:space-between;gap:1rem;font-size:.875rem;color:var(--quiet)}
.said .by b{color:var(--ink)}.said p{margin:.25rem 0 0;white-space:pre-wrap}
.said form{margin:.4rem 0 0}
.turn{border-left:3px solid var(--line);margin:.25rem 0 .25rem .5rem;padding:.1rem .8rem;font-size:.875rem}
.turn>summary{cursor:pointer;color:var(--quiet)}.turn dl{margin:.5rem 0;display:grid;
grid-template-columns:max-content 1fr;gap:.15rem .8rem}.turn dt{color:var(--quiet)}.turn dd{margin:0}
pre{white-space:pre-wrap;background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.4rem .6rem;
margin:.25rem 0;font:.8125rem/1.45 ui-monospace,monospace}
.succeeded{color:var(--good)}.failed,.denied{color:var(--bad)}
form.say{border-top:1px solid var(--line);margin-top:1.5rem;padding-top:.75rem}
label{display:block;font-weight:550;margin-bottom:.25rem}
textarea{width:100%;min-height:6rem;font:inherit;color:inherit;background:var(--back);border:1px solid var(--quiet);
border-radius:.4rem;padding:.5rem}
button{font:inherit;padding:.35rem .9rem;border:1px solid var(--link);border-radius:.4rem;background:var(--link);
color:var(--back);cursor:pointer}button.plain{background:transparent;color:var(--link)}
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin-top:.5rem}
.notice{border:1px solid var(--bad);border-radius:.4rem;padding:.5rem .8rem;margin:1rem 0}
""".replace("\n", " ")

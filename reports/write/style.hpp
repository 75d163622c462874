// SPDX-License-Identifier: Apache-2.0
//
// The look of the HTML page: light, dark, narrow and on paper.

#pragma once

#include <string_view>

namespace assay::write {

inline constexpr std::string_view style_sheet = R"css(
:root{color-scheme:light dark;
--paper:#fbfbfa;--card:#fff;--ink:#1c2024;--soft:#5d6670;--line:#e1e4e8;--faint:#f1f3f5;
--good:#1a7f4b;--warn:#9a6200;--bad:#b3261e;--warn-paper:#fdf5e3;--bad-paper:#fcebe9;--note-paper:#eef3f8;
--c0:#2f6fb3;--c1:#3a8f6b;--c2:#8a5fb0;--c3:#b8742a;--c4:#4a8c9c;--c5:#a04f6d;--mark:#d1491f;--heat:#c2571a}
@media (prefers-color-scheme:dark){:root{
--paper:#14171a;--card:#1b1f23;--ink:#e4e7ea;--soft:#9aa4ae;--line:#30363c;--faint:#23282d;
--good:#5cc48d;--warn:#e0b04c;--bad:#f28b82;--warn-paper:#2b2517;--bad-paper:#31201f;--note-paper:#1e262e;
--c0:#6ea8e0;--c1:#6cc49a;--c2:#b894dc;--c3:#dda25c;--c4:#7fbecb;--c5:#d38aa5;--mark:#ff8a5c;--heat:#e0803c}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);overflow-wrap:break-word;
font:15px/1.55 system-ui,-apple-system,"Segoe UI","Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif}
#page{max-width:1120px;margin:0 auto;padding:36px 28px 24px}
article+article{border-top:1px solid var(--line);margin-top:48px;padding-top:32px}
header p{margin:0}
.kicker{font-size:12.5px;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
h1{font-size:27px;line-height:1.25;font-weight:650;letter-spacing:-.012em;margin:6px 0 8px;overflow-wrap:anywhere}
.sub{color:var(--soft);overflow-wrap:anywhere}
h2{font-size:20px;line-height:1.3;font-weight:650;letter-spacing:-.005em;margin:40px 0 4px}
h3{font-size:15px;font-weight:650;margin:20px 0 4px}
.question{margin:0 0 14px;color:var(--soft)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:0 24px;margin:0}
.facts dt{color:var(--soft);padding:5px 0;max-width:260px}
.facts dd{margin:0;padding:5px 0;overflow-wrap:anywhere}
.summary{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 20px;margin:22px 0 0}
.summary dt{font-weight:600;color:var(--ink)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:22px 0 8px}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 16px}
.tiles dt{color:var(--soft);font-size:13px}
.tiles dd{margin:2px 0 0;font-size:22px;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums}
.tiles small{display:block;font-size:12.5px;font-weight:400;color:var(--soft);line-height:1.45}
.findings{list-style:none;margin:12px 0 0;padding:0;display:grid;gap:8px}
.findings li{border-left:4px solid var(--soft);background:var(--note-paper);border-radius:0 8px 8px 0;padding:9px 16px;overflow-wrap:anywhere}
.findings .serious{border-color:var(--bad);background:var(--bad-paper)}
.findings .caution{border-color:var(--warn);background:var(--warn-paper)}
.findings p{margin:0}
.findings .do{color:var(--soft)}
figure{margin:14px 0 22px;min-width:0}
figcaption,.foot,.lines{font-size:13px;color:var(--soft)}
.foot{margin:6px 0 0}
section>p{margin:6px 0}
section>.quiet{font-size:13px;overflow-wrap:anywhere}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}
.wide{overflow-x:auto;position:relative}
details{margin:4px 0 18px}
summary{cursor:pointer;font-size:13.5px;color:var(--soft)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;margin:6px 0 0}
caption{text-align:left;font-size:13.5px;font-weight:600;padding:6px 0 4px}
caption:empty{display:none}
th{text-align:left;font-size:12.5px;font-weight:600;color:var(--soft);border-bottom:1px solid var(--line);padding:6px 14px 6px 0;vertical-align:bottom}
td,th[scope=row]{border-bottom:1px solid var(--line);padding:8px 14px 8px 0;vertical-align:top;overflow-wrap:break-word}
th[scope=row]{font-size:15px;font-weight:400;color:var(--ink);width:40%;min-width:200px}
.wide th[scope=row]{position:sticky;left:0;background:var(--paper)}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
td small,th small{display:block;font-size:12.5px;font-weight:400;line-height:1.45;color:var(--soft)}
.n small{white-space:normal}
.col-of_sheet small,.col-of_ceiling small{display:inline;padding-left:4px}
th .note,td .note{color:var(--warn)}
tr[data-outcome=ok] .note{color:var(--soft)} /* what the device did, other bounds */
.bar{display:block;width:60px;height:10px;margin:3px 0 0 auto}
.bar path{stroke:var(--line);fill:none}
.bar .i{stroke:var(--c0);stroke-width:3}
.bar circle{fill:var(--c0)}
.share{display:block;width:100%;height:4px;margin:8px 0 2px}
.share path{stroke:var(--line);stroke-width:4;fill:none}
.share .i{stroke:var(--c0)}
.strips{display:block;margin-top:3px}
svg.strip{display:block}
.strip rect{fill:var(--faint)}
.strip path{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;opacity:.6}
.quiet{color:var(--soft)}.good{color:var(--good)}.weak{color:var(--warn)}.bad{color:var(--bad)}
.w,.w small{white-space:nowrap}
.w .note{white-space:normal}
td .good,td .bad,td .weak{font-weight:600}
sup{font-size:11px;line-height:0;color:var(--soft)}
footer{border-top:1px solid var(--line);margin-top:40px;padding-top:14px;font-size:13px;color:var(--soft)}
footer p{margin:0 0 6px}
@media screen and (max-width:720px){
#page{padding:20px 16px}
h1{font-size:22px}
.facts{grid-template-columns:1fr;gap:0}
.facts dt{padding:8px 0 0;font-size:13px}
.facts dd{padding:0}
.tiles{grid-template-columns:1fr 1fr}
.tiles dd{font-size:18px}
.wide{overflow-x:visible}
table,caption,tbody,tr,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{border-bottom:1px solid var(--line);padding:10px 0}
td,td.n{border:0;padding:2px 0;text-align:left;white-space:normal}
td:empty{display:none}
td[data-l]{padding-left:112px}
td[data-l]::before{content:attr(data-l);display:inline-block;width:112px;margin-left:-112px;padding-right:8px;box-sizing:border-box;vertical-align:top;font-size:12.5px;font-weight:400;color:var(--soft)}
td small,.bar{display:inline-block;margin:0 0 0 6px}
td .note{display:block;margin:0}
th[scope=row],.wide th[scope=row]{display:block;position:static;width:auto;min-width:0;max-width:none;padding:2px 0;border:0}
tr[hidden]{display:none}
}
@media print{
:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--faint:#f3f3f3;--good:#1a7f4b;--warn:#7a4e00;--bad:#a01c14;
--warn-paper:#fff;--bad-paper:#fff;--note-paper:#fff;--c0:#2f6fb3;--c1:#3a8f6b;--c2:#8a5fb0;--c3:#b8742a;--c4:#4a8c9c;--c5:#a04f6d;--mark:#d1491f;--heat:#c2571a}
body{font-size:9pt;line-height:1.4;-webkit-print-color-adjust:exact;print-color-adjust:exact}
#page{max-width:none;padding:0}
article+article{break-before:page}
h2,h3,caption,.question{break-after:avoid}
details:not([open]){display:none}
tbody tr:first-child{break-before:avoid}
tr,figure,.findings li,.summary,.tiles div{break-inside:avoid}
h1{font-size:14pt;margin:2pt 0 3pt}
h2{font-size:12pt;margin:10pt 0 2pt}
h3{font-size:9.5pt;margin:6pt 0 2pt}
section>p,.question{margin:0 0 3pt}
figure{margin:4pt 0 8pt}
figcaption,.foot,.lines,.legend,.columns,section>.quiet,sup{font-size:7.5pt;line-height:1.35}
.foot,section>.quiet{margin:1pt 0 0}
.facts{grid-template-columns:max-content 1fr max-content 1fr;gap:0 10pt}
.facts dt,.facts dd{padding:1.5pt 0;max-width:none}
.summary{padding:6pt 10pt;margin:8pt 0 0}
.tiles{grid-template-columns:repeat(4,1fr);gap:5pt;margin:8pt 0 4pt}
.tiles div{padding:5pt 8pt}
.tiles dt,.tiles small{font-size:7.5pt}
.tiles dd{font-size:12pt}
.findings{margin:6pt 0 0;gap:4pt}
.findings li{padding:3pt 8pt}
footer{margin-top:10pt;padding-top:6pt;font-size:7.5pt}
.wide{overflow:visible}
table{font-size:8pt;line-height:1.3;margin:2pt 0 0}
caption{font-size:8pt;padding:3pt 0 1pt}
thead{display:table-header-group}
th{font-size:7.5pt;padding:2pt 6pt 2pt 0}
th[scope=row],.wide th[scope=row]{font-size:8pt;width:auto;min-width:90pt;position:static}
td,th[scope=row]{padding:2pt 6pt 2pt 0}
th,.w small,.n small{white-space:normal}
.n{width:1%}
td:not(.n):not(.w){min-width:50pt;overflow-wrap:anywhere} /* a long word splits no table */
td small,th small{font-size:7pt;line-height:1.25;overflow-wrap:anywhere}
.strips,th .id{display:none}
.broad{page:broad}
.split>table{display:none}
@page broad{size:A4 landscape}
@page{size:A4;margin:14mm 13mm 14mm;@top-right{content:"assay";font:8pt sans-serif;color:#666}@bottom-right{content:counter(page) " / " counter(pages);font:8pt sans-serif;color:#666}}
}
)css";

/// Behind the above on Chinese pages: the fonts that macOS, Windows and Linux have, and lines that need
/// more air than Latin ones.
inline constexpr std::string_view chinese_fonts = R"css(
body{font-family:system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC","Source Han Sans SC",sans-serif;line-height:1.65}
.kicker{letter-spacing:.02em}
)css";

} // namespace assay::write

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
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI","Helvetica Neue","Noto Sans","Liberation Sans",Arial,sans-serif}
article{max-width:1040px;margin:0 auto;padding:40px 28px 24px}
article+article{border-top:1px solid var(--line)}
header p{margin:0}
.kicker{font-size:12.5px;font-weight:600;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}
h1{font-size:29px;line-height:1.2;font-weight:650;letter-spacing:-.012em;margin:6px 0 6px;overflow-wrap:anywhere}
.sub{color:var(--soft)}
h2{font-size:20px;line-height:1.3;font-weight:650;letter-spacing:-.005em;margin:44px 0 4px}
h3{font-size:15px;font-weight:650;margin:22px 0 4px}
.question{margin:0 0 14px;color:var(--soft)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:0 24px;margin:0}
.facts dt{color:var(--soft);padding:5px 0}
.facts dd{margin:0;padding:5px 0;overflow-wrap:anywhere}
.summary{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 20px;margin:26px 0 0}
.summary dt{font-weight:600;color:var(--ink)}
.findings{list-style:none;margin:12px 0 0;padding:0;display:grid;gap:8px}
.findings li{border-left:4px solid var(--soft);background:var(--note-paper);border-radius:0 8px 8px 0;padding:9px 16px;overflow-wrap:anywhere}
.findings .serious{border-color:var(--bad);background:var(--bad-paper)}
.findings .caution{border-color:var(--warn);background:var(--warn-paper)}
.findings p{margin:0}
.findings .do{color:var(--soft)}
.two{display:grid;grid-template-columns:3fr 2fr;gap:0 48px}
figure{margin:0 0 18px}
svg{display:block;overflow:visible}
figcaption,.foot{font-size:13px;color:var(--soft)}
.bars text{font-size:13px;fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:3px}
.bars .value{font-weight:600;font-variant-numeric:tabular-nums}
.bars .tick{font-size:11.5px;fill:var(--soft)}
.bars .grid{stroke:var(--line)}
.bars .whisker{stroke:var(--ink);stroke-width:1.5}
.bars .ceiling{stroke:var(--mark);stroke-width:2.5}
.bars .stem{stroke:currentColor;stroke-width:2;opacity:.35}
.bars rect,.bars circle{fill:currentColor}
.bars rect{opacity:.82}
.bars .unstable rect{opacity:.4}
.wide td:first-child{min-width:170px}
.ratios .whisker{stroke:currentColor;stroke-width:2}
.ratios .unsure{opacity:.5}
.ratios .unsure circle{fill:var(--paper);stroke:currentColor;stroke-width:2}
.c0{color:var(--c0)}.c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}.c5{color:var(--c5)}
.lines{margin-top:18px}
.lines .curve{stroke:currentColor;stroke-width:2;stroke-linecap:round}
.lines .dashed{stroke-dasharray:5 4}
.lines .whisker{stroke:currentColor;stroke-width:1;opacity:.6}
.lines .mark{stroke:var(--mark);stroke-dasharray:3 3}
.legend{list-style:none;margin:2px 0 6px;padding:0;display:flex;flex-wrap:wrap;gap:2px 22px;font-size:13px}
.legend small{display:block;margin-left:16px;font-size:12.5px;color:var(--soft)}
.wide{overflow-x:auto}
.heat rect{opacity:1;fill:var(--heat)}
.h0 rect{fill-opacity:.06}.h1 rect{fill-opacity:.13}.h2 rect{fill-opacity:.2}.h3 rect{fill-opacity:.28}.h4 rect{fill-opacity:.36}
.h5 rect{fill-opacity:.45}.h6 rect{fill-opacity:.55}.h7 rect{fill-opacity:.66}.h8 rect{fill-opacity:.78}
.heat g text{font-size:12px;stroke:none}
details{margin:4px 0 18px}
summary{cursor:pointer;font-size:13.5px;color:var(--soft)}
.strip rect{fill:var(--faint)}
.strip path{fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;opacity:.6}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;font-size:13.5px;font-weight:600;padding:6px 0 4px}
th{text-align:left;font-size:12.5px;font-weight:600;color:var(--soft);border-bottom:1px solid var(--line);padding:6px 14px 6px 0;vertical-align:bottom}
td{border-bottom:1px solid var(--line);padding:8px 14px 8px 0;vertical-align:top;overflow-wrap:anywhere}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
td.n.v{font-weight:600}
.n small{white-space:normal;max-width:170px;margin-left:auto}
td small,.id{display:block;font-size:12.5px;line-height:1.45;color:var(--soft)}
.dot{display:inline-block;width:9px;height:9px;border-radius:50%;background:currentColor;margin-right:7px}
.w{white-space:nowrap}
.soft{color:var(--soft)}.ok{color:var(--good)}.weak{color:var(--warn);font-weight:600}.wrong{color:var(--bad);font-weight:600}
.foot{margin:10px 0 0;padding-left:22px}
.foot li{overflow-wrap:anywhere}
p.foot{padding:0}
sup{font-size:11px;line-height:0;color:var(--soft)}
footer{border-top:1px solid var(--line);margin-top:44px;padding-top:14px;font-size:13px;color:var(--soft)}
footer p{margin:0 0 6px}
@media screen and (max-width:720px){
article{padding:24px 16px}
h1{font-size:23px}
.two{grid-template-columns:1fr}
.facts{grid-template-columns:1fr;gap:0}
.facts dt{padding:8px 0 0;font-size:13px}
.facts dd{padding:0}
table,caption,tbody,tr,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{border-bottom:1px solid var(--line);padding:10px 0}
td,td.n{border:0;padding:2px 0;text-align:left;white-space:normal}
td:empty{display:none}
.n small{max-width:none}
td[data-l]::before{content:attr(data-l);display:inline-block;width:112px;font-size:12.5px;font-weight:400;color:var(--soft)}
td .strip{margin-top:4px}
.bars{overflow:hidden}
}
@media print{
:root{--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--faint:#f3f3f3;--good:#1a7f4b;--warn:#7a4e00;--bad:#a01c14;
--warn-paper:#fff;--bad-paper:#fff;--note-paper:#fff;--c0:#2f6fb3;--c1:#3a8f6b;--c2:#8a5fb0;--c3:#b8742a;--c4:#4a8c9c;--c5:#a04f6d;--mark:#d1491f;--heat:#c2571a}
body{font-size:10.5pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
article{max-width:none;padding:0}
article+article{break-before:page}
h2,h3,caption{break-after:avoid}
details:not([open])>*:not(summary){display:none}
tr,figure,.findings li,.summary{break-inside:avoid}
h2{margin-top:24pt}
@page{margin:16mm 15mm}
}
)css";

/// Behind the above on Chinese pages: the fonts that macOS, Windows and Linux have, and lines that need
/// more air than Latin ones.
inline constexpr std::string_view chinese_fonts = R"css(
body{font-family:system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei","Noto Sans CJK SC","Noto Sans SC","Source Han Sans SC",sans-serif;line-height:1.65}
.kicker{letter-spacing:.02em}
)css";

} // namespace assay::write

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A buyer changes inputs in the workbook of `assay cost`, and LibreOffice calculates it again: every line is then what the
# program says for these inputs.
#
#   cost_test.py ASSAY_REPORT SOFFICE RUN

import datetime
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import book

program, office, run = sys.argv[1:]
SHEET = "How the figures came about"
WORK = ["memory.stream*triad*threads=all*=1e18", "gemm.square*fp64*=1e20"]
BEFORE = {"pue": 1.5, "power_price": 0.1, "carbon": 400, "node_watts": 700, "mtbf_hours": 1000, "checkpoint_hours": 0.1,
          "restart_hours": 0.5, "storage_gb": 0, "egress_gb_month": 10, "control_plane": 5, "support": 20, "setup": 90,
          "debugging": 30, "depreciation_months": 48, "residual": 0.1, "hosting_month": 200, "staff_month": 50,
          "utilisation": 0.7}
AFTER = {"pue": 1.2, "power_price": 0.25, "mtbf_hours": 333, "utilisation": 0.4, "depreciation_months": 24, "setup": 1}


def offers():
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    common = {"provider": "aws", "instance": "c7a.large", "count": 1, "gpus": 1, "currency": "EUR", "date": day, "source": "test",
              "egress_per_gb": "0.09", "fallback": False}
    return {"schema": "assay.offers/1", "name": "test",
            "rates": [{"currency": "EUR", "in": "USD", "rate": "1.25", "date": day, "source": "test"}],
            "offers": [common | {"id": "by use", "tariff": "on_demand", "price": "3.21", "billing_step_s": 3600, "minimum_hours": 2},
                       common | {"id": "spot", "tariff": "spot", "price": "1.1", "interruptions_per_hour": 0.001},
                       common | {"id": "a year", "tariff": "reserved_1y", "price": "2.5", "upfront": "1000", "support_share": 0.03},
                       common | {"id": "bought", "tariff": "purchase", "price": "30000"}]}


def cost(folder, settings, *more):
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    words += [word for work in WORK for word in ("--work", work)]
    command = [program, "cost", str(folder / "offers.json"), "--results", str(folder / "run.json"), "--currency", "USD", *words, *more]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout



def key_of(row):
    """The [key] behind the last text of a row before the value."""
    return (re.findall(r"\[(\w+)\]$", row[-1]) or [""])[0] if row else ""


def change(source, target, settings):
    return book.rewrite(source, target, lambda sheet, header, row, column: settings.get(key_of(row)) if sheet == SHEET and column == "Value" else None)


def main(folder):
    (folder / "offers.json").write_text(json.dumps(offers()))
    recorded = json.loads(Path(run).read_text())
    recorded["machine"] |= {"provider": "aws", "instance": "c7a.large"}
    (folder / "run.json").write_text(json.dumps(recorded))
    cost(folder, BEFORE, "--xlsx", str(folder / "before.xlsx"))
    inputs, formulas = change(folder / "before.xlsx", folder / "after.xlsx", AFTER)
    assert inputs == 4 * len(AFTER), inputs
    assert formulas > 100, formulas
    sheets = book.calculated(office, folder / "after.xlsx", folder)
    old = json.loads(cost(folder, BEFORE, "--json"))
    new = json.loads(cost(folder, BEFORE | AFTER, "--json"))
    rows = {(row["group"], row["Line"].rsplit("[")[-1].rstrip("]")): row for row in sheets[SHEET]}
    compared = moved = ends = 0
    groups = [(one["offer"], one["lines"], was["lines"]) for one, was in zip(new["costs"], old["costs"])]
    groups += [(f"{one['bought']} against {one['rented']}", one["lines"], was["lines"])
               for one, was in zip(new["rent_or_buy"], old["rent_or_buy"])]
    for group, lines, before in groups:
        for line, was in zip(lines, before):
            if line["value"] is None:
                continue
            row = rows[group, line["key"]]
            assert book.near(row["Value"], line["value"]), (group, line, row)
            compared += 1
            moved += line["value"] != was["value"] and "formula" in line
            if "low" in line:
                assert book.near(row["Value: 95% interval from"], line["low"]), (group, line, row)
                assert book.near(row["Value: 95% interval to"], line["high"]), (group, line, row)
                ends += 1
    assert compared > 200 and moved > 50 and ends > 30, (compared, moved, ends)
    # The first sheets follow.
    for row, one in zip(sheets["Costs"], new["costs"]):
        lines = {line["key"]: line["value"] for line in one["lines"]}
        assert book.near(row["Month"], lines["month"]) and book.near(row["Job"], lines["job"]), (row, one["offer"])
    shares = [row for row in sheets["What a month consists of"] if row["group"] == "by use"]
    assert book.near(str(sum(float(row["Share"].rstrip("%")) for row in shares)), 100), shares
    print(f"{inputs} inputs changed, {formulas} formulas calculated, {compared} values and {ends} intervals as the program has them, "
          f"{moved} of them moved")


with tempfile.TemporaryDirectory() as made:
    main(Path(made))

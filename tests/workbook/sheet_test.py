#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Costs by a spreadsheet that was written by hand from the definitions (costs.csv; [name] is the value of that row), which
# LibreOffice calculates, and by `assay cost`: both say the same. Nothing of the program is in the spreadsheet.
#
#   sheet_test.py ASSAY_REPORT SOFFICE RUN

import csv
import datetime
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import book

program, office, run = sys.argv[1:]
SERIES = "gemm.square*fp64*"
OF_OFFERS = ("exchange", "storage_per_gb_month", "egress_per_gb", "support_share", "nodes", "term_months", "work", "rate")


def sheet(given):
    """The rows with these inputs in place of their own."""
    rows = list(csv.DictReader((Path(__file__).parent / "costs.csv").open()))
    for row in rows:
        row["value"] = str(given.get(row["name"], row["value"]))
    assert len({row["name"] for row in rows}) == len(rows) and set(given) <= {row["name"] for row in rows}
    return rows


def calculated(folder, rows):
    """What LibreOffice makes of the formulas."""
    cells = {row["name"]: f"B{number}" for number, row in enumerate(rows, 2)}
    with (folder / "sheet.tsv").open("w", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerow(["name", "value"])
        for row in rows:
            table.writerow([row["name"], re.sub(r"\[([^]]+)\]", lambda name: cells[name[1]], row["value"])])
    return {row["name"]: row["value"] for row in book.calculated(office, folder / "sheet.tsv", folder, "CSV:9,34,76,1,,1033,false,true")["sheet"]}


def offers(value):
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    made = []
    for name in value:
        tariff, _, key = name.partition(".")
        if key == "price":
            made.append({"id": tariff, "tariff": tariff, "provider": "aws", "instance": "c7a.large", "currency": "EUR", "date": day,
                         "source": "test", "gpus": 1, "support_share": float(value["support_share"])}
                        | {key: value[key] for key in ("storage_per_gb_month", "egress_per_gb")})
        if key == "interruptions":
            made[-1]["interruptions_per_hour"] = float(value[name])
        elif key:
            made[-1][key] = value[name]
        if name == "on_demand.price":
            made[-1]["billing_step_s"] = 3600
    return {"schema": "assay.offers/1", "name": "test", "offers": made,
            "rates": [{"currency": "EUR", "in": "USD", "rate": value["exchange"], "date": day, "source": "test"}]}


def cost(folder, value):
    (folder / "offers.json").write_text(json.dumps(offers(value)))
    command = [program, "cost", str(folder / "offers.json"), "--results", str(folder / "run.json"), "--currency", "USD", "--json",
               "--work", f"{SERIES}={value['work']}", "--nodes", value["nodes"], "--term", value["term_months"] + "mo"]
    for name in value:
        if name not in OF_OFFERS and "." not in name:
            command += ["--set", f"{name}={value[name]}"]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    lines = {f"{one['offer']}:{line['key']}": line for one in said["costs"] for line in one["lines"]}
    for one in said["rent_or_buy"]:
        lines[f"purchase:against {one['rented']}"] = one["lines"][-1]
    return lines


def rate_in(text):
    for case in json.loads(text)["cases"]:
        if case["benchmark"] == "gemm.square" and case["parameters"]["precision"] == "fp64":
            return next(one["value"] for one in case["metrics"] if one["name"] == case["headline"])
    raise AssertionError("the sample has no such case")


def compare(folder, given):
    """How many figures agree. A job is known on as many nodes as were measured, which is one."""
    rows = sheet(given)
    result = calculated(folder, rows)
    assert float(result["a_year_of_700_W"]) == 9198
    lines = cost(folder, {row["name"]: row["value"] for row in rows if not row["value"].startswith("=")})
    compared = 0
    for name in result:
        if ":" not in name:
            continue
        line = lines[name]
        if "job" in name and float(given["nodes"]) != 1:
            assert line["value"] is None and line["why"] == "not_measured_on_nodes", line
            continue
        assert line["value"] is not None and book.near(result[name], line["value"]), (name, result[name], line)
        compared += 1
    return compared


def main(folder):
    text = Path(run).read_text()
    recorded = json.loads(text)
    recorded["machine"] |= {"provider": "aws", "instance": "c7a.large"}
    (folder / "run.json").write_text(json.dumps(recorded))
    one = compare(folder, {"nodes": 1, "rate": rate_in(text)})
    many = compare(folder, {"nodes": 16, "utilisation": 0.35, "term_months": 13, "pue": 1.08, "mtbf_hours": 20000, "restart_hours": 0.2})
    print(f"{one} figures of one node and {many} of sixteen are those of the spreadsheet")


with tempfile.TemporaryDirectory() as place:
    main(Path(place))

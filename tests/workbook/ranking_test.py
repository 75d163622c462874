#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# A buyer changes a price and the weights in the workbook of a procurement report, and LibreOffice calculates it again: the
# ranking is then what the program says for that price and these weights.
#
#   ranking_test.py ASSAY_REPORT SOFFICE RUN

import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import book

program, office, run = sys.argv[1:]
SPEEDS = {"small": (1, 3), "big": (2, 1)}  # at matrix products, at all else


def made(folder):
    for instance, (products, rest) in SPEEDS.items():
        one = json.loads(Path(run).read_text())
        one["machine"] |= {"provider": "p", "instance": instance, "id": f"m-{instance}"}
        one["run"]["id"] = f"run-{instance}"
        for case in one["cases"]:
            speed = products if case["benchmark"].startswith("gemm") else rest
            for replica in case["replicas"]:
                replica["seconds"] = replica["seconds"] and replica["seconds"] / speed
            for metric in case["metrics"]:
                for key in ("value", "low", "high"):
                    if metric.get(key) is not None:
                        metric[key] = metric[key] / speed if metric["unit"] == "s" else metric[key] * speed
        (folder / "runs" / instance).mkdir(parents=True)
        (folder / "runs" / instance / "run.json").write_text(json.dumps(one))


def weights(folder, matmul):
    (folder / "mine.json").write_text(json.dumps({"schema": "assay.profiles/1", "name": "mine", "profiles": [
        {"name": "mine", "title": "Mine", "weights": {"matmul_fp64": matmul, "memory_bandwidth": 1 - matmul}}]}))


def ranked(folder, price, *more):
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    offer = {"provider": "p", "tariff": "reserved_1y", "currency": "USD", "date": day, "source": "test", "fallback": False}
    (folder / "offers.json").write_text(json.dumps({"schema": "assay.offers/1", "name": "test", "rates": [], "offers": [
        offer | {"instance": "small", "price": "1.00"}, offer | {"instance": "big", "price": price}]}))
    command = [program, "report", str(folder / "runs"), "--kind", "procurement", "--offers", str(folder / "offers.json"),
               "--profile", "mine", "--profile-file", str(folder / "mine.json"), "--set", "utilisation=0.5",
               "--set", "support=365", "--term", "18mo", *more]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def new(sheet, header, row, column):
    if sheet == "What if" and column == "Price per hour" and row[-1].startswith("p big"):
        return 0.5
    if sheet == "What if  weights" and column == "Weight":
        return {"Matrix products, fp64": 3, "Memory bandwidth": 1}[row[-1]]  # need not sum to 1
    return None


def main(folder):
    made(folder)
    weights(folder, 0.4)
    ranked(folder, "2.00", "--xlsx", str(folder / "before.xlsx"))
    before = json.loads(ranked(folder, "2.00", "--json"))["ranking"]["offers"]
    changed, formulas = book.rewrite(folder / "before.xlsx", folder / "after.xlsx", new)
    assert changed == 3 and formulas == 8, (changed, formulas)
    rows = book.calculated(office, folder / "after.xlsx", folder)["What if"]
    weights(folder, 0.75)
    after = {one["instance"]: one for one in json.loads(ranked(folder, "0.50", "--json"))["ranking"]["offers"]}
    assert before[0]["instance"] == "small" and list(after)[0] == "big", "the ranking moves"
    for row in rows:
        one = after[row["Offer"].split()[1]]
        assert book.near(row["Per node-hour"], one["hour"]["total"]), (row, one)
        assert book.near(row["Value for money"], one["value"]), (row, one)
    assert len(rows) == 2
    print(f"{changed} inputs changed, {formulas} formulas calculated: as the program has them")


with tempfile.TemporaryDirectory() as place:
    main(Path(place))

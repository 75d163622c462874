# SPDX-License-Identifier: Apache-2.0
#
# Workbooks as a reader has them who changes inputs, and as LibreOffice calculates them again.

import csv
import subprocess
import xml.etree.ElementTree as xml
import zipfile

NAMES = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def rewrite(source, target, new):
    """new(sheet, header, texts of the row so far, title of the column) is what an input becomes, or None. All that was
    calculated is forgotten. How many inputs changed, and how many formulas there are."""
    with zipfile.ZipFile(source) as book:
        files = {name: book.read(name) for name in book.namelist()}
    strings = ["".join(one.itertext()) for one in xml.fromstring(files["xl/sharedStrings.xml"]).iterfind("m:si", NAMES)]
    sheets = [one.get("name") for one in xml.fromstring(files["xl/workbook.xml"]).iterfind("m:sheets/m:sheet", NAMES)]
    inputs = formulas = 0
    for number, sheet in enumerate(sheets, 1):
        name = f"xl/worksheets/sheet{number}.xml"
        tree = xml.fromstring(files[name])
        header = {}
        for row in tree.iterfind("m:sheetData/m:row", NAMES):
            texts = []
            for cell in row:
                value = cell.find("m:v", NAMES)
                column = cell.get("r").rstrip("0123456789")
                if cell.get("t") == "s":
                    texts.append(strings[int(value.text)])
                    if row.get("r") == "1":
                        header[column] = texts[-1]
                elif cell.find("m:f", NAMES) is not None:
                    cell.remove(value)
                    formulas += 1
                elif value is not None:
                    changed = new(sheet, header, texts, header.get(column, ""))
                    if changed is not None:
                        value.text = str(changed)
                        inputs += 1
        files[name] = xml.tostring(tree)
    with zipfile.ZipFile(target, "w") as book:
        for name, content in files.items():
            book.writestr(name, content)
    return inputs, formulas


def calculated(office, book, folder, *filters):
    """Every sheet as rows. `filters`: how to read other files."""
    options = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
    subprocess.run([office, f"-env:UserInstallation=file://{folder}/profile", "--headless", *(f"--infilter={one}" for one in filters),
                    "--convert-to", options, "--outdir", str(folder), str(book)], check=True, capture_output=True)
    return {file.stem.removeprefix(book.stem + "-"): list(csv.DictReader(file.open()))
            for file in folder.glob(book.stem + "-*.csv")}


def near(a, b):
    a = float(a[:-1]) / 100 if a.endswith("%") else float(a)
    return abs(a - b) <= 1e-9 * abs(b)

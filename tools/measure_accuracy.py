#!/usr/bin/env python3
"""Profiles a model, runs two-stage plans of it and tabulates predicted against measured time."""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

PROGRAM = os.environ.get("HEADRACE", "build/ci/headrace")
WORK = pathlib.Path("build/accuracy")
SCHEDULES = ["gpipe", "1f1b"]
MICRO_BATCHES = [1, 2, 4, 8, 16]
SHARES = {"50:50": 0.50, "75:25": 0.75}  # Share of the layers' time on the first stage.


def headrace(*arguments):
    print("$ headrace", *arguments, file=sys.stderr, flush=True)
    done = subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], check=False,
                          stdout=subprocess.DEVNULL)
    if done.returncode:  # It has said why.
        sys.exit(done.returncode)


def read(path):
    return json.loads(path.read_text())


def layer_times(profile):
    return [layer["forward"]["mean_s"] + layer["backward"]["mean_s"]
            for layer in profile["layers"]]


def cut_near(times, share):
    """Layers per stage of the cut whose first stage is nearest to this share of all time."""
    first = min(range(1, len(times)), key=lambda k: abs(sum(times[:k]) / sum(times) - share))
    return [first, len(times) - first]


def measure_one(profile_path, counts, schedule, micro_batches, iterations):
    """Plans, runs and compares one configuration; returns the comparison document."""
    plan, measured, comparison = (WORK / name for name in ("plan.json", "measured.json",
                                                           "comparison.json"))
    headrace("plan", profile_path, "--devices", 2, "--micro-batches", micro_batches,
             "--schedule", schedule, "--split", ",".join(map(str, counts)), "-o", plan)
    headrace("run", plan, "--iterations", iterations, "-o", measured)
    headrace("compare", plan, measured, "-o", comparison)
    return read(comparison)


def percent(fraction):
    return f"{100 * fraction:+.1f} %"


def milliseconds(seconds):
    return f"{1e3 * seconds:.1f}"


def table(rows):
    lines = ["| split | schedule | M | predicted ms | measured ms | error | noise | formula's error |",
             "|---|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        lines.append("| " + " | ".join([
            row["split"], row["schedule"], str(row["micro_batches"]),
            milliseconds(row["predicted_s"]), milliseconds(row["measured_s"]),
            percent(row["relative_error"]), f"{100 * row['noise_floor']:.1f} %",
            percent(row["formula_error"])]) + " |")
    return "\n".join(lines)


def mean_size(rows, key):
    return statistics.fmean(abs(row[key]) for row in rows)


def report(result):
    rows = result["rows"]
    worst = max(rows, key=lambda row: abs(row["relative_error"]))
    return f"""# Predicted and measured iteration time, {result["date"]}

{result["device"]}, model {result["model"]}, micro-batches of {result["micro_batch_size"]}, two
stages, one process and one pinned core each, {result["iterations"]} iterations a row (median).
Error = (predicted - measured) / measured. Noise = half the interquartile range over the median.
Made by `tools/measure_accuracy.sh`.

{table(rows)}

Mean size of the error: **{100 * mean_size(rows, "relative_error"):.1f} %**, of the formula's
(M + S - 1) x slowest stage: {100 * mean_size(rows, "formula_error"):.1f} %. Largest:
{percent(worst["relative_error"])} ({worst["split"]}, {worst["schedule"]}, M = \
{worst["micro_batches"]}). A second profile after the runs differs from the first by
{percent(result["drift"])} in total: the machine itself moved by so much.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="gpt-small-demo")
    parser.add_argument("--micro-batch", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("data/measured"))
    options = parser.parse_args()

    WORK.mkdir(parents=True, exist_ok=True)
    first, second = WORK / "profile.json", WORK / "profile-after.json"
    headrace("profile", options.model, "--micro-batch", options.micro_batch, "-o", first)
    profile = read(first)
    rows = []
    for split, share in SHARES.items():
        counts = cut_near(layer_times(profile), share)
        for schedule in SCHEDULES:
            for micro_batches in MICRO_BATCHES:
                document = measure_one(first, counts, schedule, micro_batches, options.iterations)
                rows.append({"split": split, "layers_per_stage": counts, "schedule": schedule,
                             "micro_batches": micro_batches, **document})
    headrace("profile", options.model, "--micro-batch", options.micro_batch, "-o", second)

    before, after = (sum(layer_times(read(path))) for path in (first, second))
    result = {"date": datetime.date.today().isoformat(), "model": options.model,
              "device": profile["device"]["name"], "micro_batch_size": options.micro_batch,
              "iterations": options.iterations, "drift": after / before - 1, "rows": rows}
    processor = re.sub(r"[^a-z0-9]+", "-", result["device"].lower()).strip("-")
    target = options.output / f"{result['date']}-{processor}"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.with_name(target.name + ".json").write_text(json.dumps(result, indent=2) + "\n")
    target.with_name(target.name + ".md").write_text(report(result))
    print(report(result))


if __name__ == "__main__":
    main()

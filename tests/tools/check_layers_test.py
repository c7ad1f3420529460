"""Provokes every complaint of tools/check_layers.py in a small tree and checks that it is made."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"


def check(files):
    """Runs the script over a tree of {path: text}; returns its exit status and its lines."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, str(SCRIPT)], cwd=folder, capture_output=True,
                              text=True, check=False)
    return done.returncode, done.stdout.splitlines()


class Layers(unittest.TestCase):
    def assert_refused(self, name, text, complaint):
        status, lines = check({name: text})
        self.assertEqual(status, 1, lines)
        self.assertEqual(lines, [complaint])

    def assert_accepted(self, name, text):
        self.assertEqual(check({name: text}), (0, ["layers: ok"]))

    def test_an_empty_tree_is_in_order(self):
        self.assertEqual(check({}), (0, ["layers: ok"]))

    def test_a_room_may_include_core_and_itself(self):
        self.assert_accepted("planner/a.cpp", '#include "planner/a.h"\n#include "core/ids.h"\n')

    def test_a_room_may_not_include_its_neighbour(self):
        self.assert_refused("planner/a.cpp", '\n#include "simulator/simulate.h"\n',
                            "planner/a.cpp:2: planner/ may not include simulator/; "
                            "pass data through core/")

    def test_core_includes_nothing_of_ours(self):
        self.assert_refused("core/a.h", '#include "report/compare.h"\n',
                            "core/a.h:1: core/ may not include report/; pass data through core/")

    def test_the_command_line_may_not_include_a_torch_room(self):
        self.assert_refused("tools/headrace/a.cpp", '#include "executor/torch/backend.h"\n',
                            "tools/headrace/a.cpp:1: tools/headrace/ links no LibTorch; "
                            "use tools/headrace-torch/")

    def test_the_worker_may_include_a_torch_room(self):
        self.assert_accepted("tools/headrace-torch/a.cpp", '#include "executor/torch/backend.h"\n')

    def test_heavy_headers_stay_in_their_folders(self):
        for header, stray, home in [
                ("torch/torch.h", "models/a.h", "models/torch/a.h"),
                ("ATen/ATen.h", "executor/a.h", "executor/torch/a.h"),
                ("cupti.h", "profiler/a.h", "profiler/cupti/a.h"),
                ("nccl.h", "executor/a.h", "executor/nccl/a.h"),
                ("CLI/CLI.hpp", "report/a.h", "tools/headrace/a.h"),
                ("nlohmann/json.hpp", "core/a.h", "core/json/a.h")]:
            with self.subTest(header=header):
                status, lines = check({stray: f"#include <{header}>\n"})
                self.assertEqual(status, 1)
                self.assertIn(f"{stray}:1: <{header}> belongs only in", lines[0])
                self.assert_accepted(home, f"#include <{header}>\n")

    def test_a_file_of_501_lines_is_too_long(self):
        self.assert_accepted("core/a.cpp", "\n" * 500)
        self.assert_refused("tests/core/a.cpp", "\n" * 501,
                            "tests/core/a.cpp:500: 501 lines; split it (limit 500)")

    def test_every_complaint_of_a_tree_is_listed(self):
        status, lines = check({"core/a.h": '#include "models/m.h"\n#include <CLI/CLI.hpp>\n',
                               "report/b.h": '#include "planner/p.h"\n'})
        self.assertEqual((status, len(lines)), (1, 3))


if __name__ == "__main__":
    unittest.main()

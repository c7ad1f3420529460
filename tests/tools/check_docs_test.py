"""Writes small pages and checks which paths tools/check_docs.py believes."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_docs.py"


def check(page):
    """Runs the script over a tree with core/ids.h and this text as docs/page.md."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core").mkdir()
        (root / "core" / "ids.h").touch()
        (root / "docs").mkdir()
        (root / "docs" / "page.md").write_text(page)
        done = subprocess.run([sys.executable, str(SCRIPT)], cwd=root, capture_output=True,
                              text=True, check=False)
    return done.returncode, done.stdout.strip()


class Docs(unittest.TestCase):
    def test_files_and_folders_that_exist_are_fine(self):
        self.assertEqual(check("`core/ids.h` and `core/` and ./core/ids.h."), (0, "docs: ok"))

    def test_a_file_that_does_not_exist_is_named_with_its_line(self):
        self.assertEqual(check("\nsee `core/gone.h`."),
                         (1, "docs/page.md:2: core/gone.h: there is no such file or folder"))

    def test_a_link_is_relative_to_its_page(self):
        self.assertEqual(check("[ids](../core/ids.h)"), (0, "docs: ok"))
        self.assertEqual(check("[ids](core/ids.h)"),
                         (1, "docs/page.md:1: link to core/ids.h: there is no such file"))

    def test_what_a_build_makes_need_not_exist(self):
        self.assertEqual(check("`build/ci/headrace` writes demo/plan.json"), (0, "docs: ok"))

    def test_words_of_other_projects_are_not_paths(self):
        self.assertEqual(check("include/core/ids.hpp and encore/ids and 3/8"), (0, "docs: ok"))


if __name__ == "__main__":
    unittest.main()

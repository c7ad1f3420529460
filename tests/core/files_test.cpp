#include "core/files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace headrace {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone with the case.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "headrace-files-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~ScratchFolder() { fs::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

TEST_SUITE_BEGIN("core/files");

TEST_CASE("what is written reads back and leaves no other file") {
  const ScratchFolder folder;
  const std::string content("a\0b\nc", 5);
  REQUIRE(write_text(folder / "out", "an older and longer content").has_value());
  REQUIRE(write_text(folder / "out", content).has_value());
  CHECK(read_text(folder / "out").value() == content);
  CHECK(folder.size() == 1);
}

TEST_CASE("a file that is missing is named with the reason") {
  const ScratchFolder folder;
  const auto text = read_text(folder / "none");
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().code == ErrorCode::kBadInput);
  CHECK(text.error().where == folder / "none");
  CHECK(text.error().what == "cannot read: No such file or directory");
  CHECK(text.error().fix == "check the path and its permissions");
}

TEST_CASE("a folder is no file to read and none to write") {
  const ScratchFolder folder;
  const auto text = read_text(folder / ".");
  REQUIRE_FALSE(text.has_value());
  CHECK(text.error().what == "cannot read: Is a directory");
  CHECK(text.error().fix == "name a file, not a folder");
  const auto written = write_text(folder / ".", "x");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().what == "cannot write: Is a directory");
  CHECK(folder.size() == 0);
}

TEST_CASE("a missing folder is not made") {
  const ScratchFolder folder;
  const auto written = write_text(folder / "none/out", "x");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().where == folder / "none/out");
  CHECK(written.error().what == "cannot write: No such file or directory");
  CHECK(folder.size() == 0);
}

TEST_CASE("a file beyond the limit is refused") {
  const ScratchFolder folder;
  REQUIRE(write_text(folder / "out", "12345").has_value());
  CHECK(read_text(folder / "out", 5).value() == "12345");
  CHECK(read_text(folder / "out", 4).error().what == "larger than 4 bytes");
}

TEST_CASE("a link is followed and stays a link") {
  const ScratchFolder folder;
  REQUIRE(write_text(folder / "real", "old").has_value());
  fs::create_symlink("real", folder / "link");
  REQUIRE(write_text(folder / "link", "new").has_value());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_text(folder / "real").value() == "new");
}

TEST_CASE("a file that is written again keeps its permissions") {
  const ScratchFolder folder;
  REQUIRE(write_text(folder / "out", "old").has_value());
  fs::permissions(folder / "out", fs::perms::owner_read | fs::perms::owner_write);
  REQUIRE(write_text(folder / "out", "new").has_value());
  CHECK(fs::status(folder / "out").permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a device is written in place") {
  CHECK(write_text("/dev/null", "x").has_value());
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(write_text("/dev/full", "x").error().what == "cannot write: No space left on device");
}

TEST_SUITE_END();

}  // namespace
}  // namespace headrace

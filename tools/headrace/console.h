// Where a command's words go: results to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace headrace::cli {

/// What the flags of every command say about output.
struct OutputOptions {
  bool json = false;      ///< Exactly one document on standard output.
  bool quiet = false;     ///< No progress, notes or warnings.
  bool verbose = false;   ///< Also what is read, written and started.
  std::string file = {};  ///< The result document goes here; "-" is standard output.
};

/// Makes standard streams that the parent closed fail cleanly and a closed pipe an error code
/// instead of a signal. Called once, before any file is opened.
void prepare_streams();

/// Writes to standard output. A reader that has left is no failure: it has read what it wanted.
/// Fails with kBadInput when the text cannot be written (closed stream, full disk).
Result<void> print(std::string_view text);

class Console {
 public:
  explicit Console(OutputOptions options) : options_(std::move(options)) {}

  /// Hands over a command's result: `document` goes to the file of -o; standard output gets the
  /// document with --json or `-o -`, otherwise `text`.
  [[nodiscard]] Result<void> deliver(std::string_view document, std::string_view text) const;

  /// The same for a result that an error follows: with --json the error is the one document on
  /// standard output.
  [[nodiscard]] Result<void> deliver_before_error(std::string_view document,
                                                  std::string_view text) const;

  /// True when the document is asked for, by --json or -o.
  [[nodiscard]] bool wants_document() const { return options_.json || !options_.file.empty(); }

  /// Writes a side product (--trace and the like) and says so with -v. Fails with kBadInput, and
  /// with kUsage for "-" when standard output belongs to the result.
  [[nodiscard]] Result<void> write_file(const std::string& path, std::string_view content,
                                        std::string_view flag) const;

  void note(std::string_view text) const;    ///< Unless --quiet.
  void warn(std::string_view text) const;    ///< Unless --quiet; "warning: ".
  void detail(std::string_view text) const;  ///< Only with -v.
  /// A bar on a terminal, a line now and then elsewhere; unless --quiet.
  void progress(int done, int total, std::string_view text);
  /// Ends an unfinished bar's line.
  void end_progress();
  /// The error as text on standard error, and as a document on standard output with --json.
  void report(const Error& error) const;

 private:
  OutputOptions options_;
  bool bar_open_ = false;
  int tenth_printed_ = -1;
};

}  // namespace headrace::cli

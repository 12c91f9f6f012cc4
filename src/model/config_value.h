#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strom::model {

/// The syntaxes of configuration values, as Fluss reads them. Errors have code kInvalidConfig and a message that says what is
/// wrong with the value and what is allowed ("'soon' is not a duration: ..."), without the key, which the caller adds.

/// "true" or "false" in any letter case.
Result<bool> ParseBoolValue(std::string_view text);
/// A decimal integer with an optional sign.
Result<int64_t> ParseIntValue(std::string_view text, int64_t min = INT64_MIN, int64_t max = INT64_MAX);
/// A finite decimal number.
Result<double> ParseDoubleValue(std::string_view text);
/// A number and a unit: ns, us, ms, s, min, h, d and their long forms ("3 days"). Fractions of a millisecond are dropped.
Result<int64_t> ParseDurationMs(std::string_view text);
/// A number of bytes, alone or with a unit of 1024: b, k, kb, kib, m, mb, mib, g, gb, gib, t, tb, tib and their long forms.
Result<int64_t> ParseMemorySize(std::string_view text);
/// Items between `delimiter`s, trimmed; an item in ' or " may hold the delimiter, and a quote doubled.
Result<std::vector<std::string>> ParseListValue(std::string_view text, char delimiter = ',');
/// "key:value,key:value"
Result<std::map<std::string, std::string>> ParseMapValue(std::string_view text);

/// "7 d", "90 s", "1500 ms": the largest unit that is exact.
std::string FormatDuration(int64_t milliseconds);
/// "100 mb", "1 gb", "1000 b"
std::string FormatMemorySize(int64_t bytes);

/// Without blanks at both ends.
std::string_view Trimmed(std::string_view text);
/// ASCII letters in upper case.
std::string UpperCase(std::string_view text);

}  // namespace strom::model

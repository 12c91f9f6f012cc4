#pragma once

#include <string>

namespace strom {

/// The text of a float or double as Java's toString gives it (JDK 19 and later): the shortest digits that read back, at least one after the
/// point; plain for 0.001 <= |x| < 10^7, else "d.dddE-n"; "NaN", "Infinity", "-Infinity". Partition values and Hudi keys are made of
/// it. Older JDKs give more digits for a few numbers (2e23). Source: spec/formats.md 16.18.
std::string JavaText(float value);
std::string JavaText(double value);

}  // namespace strom

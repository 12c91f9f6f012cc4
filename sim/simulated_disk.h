#pragma once

#include "rt/testing/simulated_disk.h"

namespace strom::sim {

using rt::testing::SimulatedDisk;

}  // namespace strom::sim

#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "meta/catalog.h"
#include "server/data_directory.h"

namespace strom::server {

/// "ready: bootstrap 127.0.0.1:9123 tablet 127.0.0.1:9124 data /srv/strom pid 4711"; with several listeners each kind names all.
std::string ReadyLine(const DataDirectory& directory, const std::vector<meta::Endpoint>& coordinator,
                      const std::vector<meta::Endpoint>& tablet);

/// Prints the line on standard output and, with a path, writes it to a temporary name and renames that: who sees the file sees all of it.
Status AnnounceReady(const std::string& line, const std::string& path);

/// At start and at stop. A path that is empty or not there is fine.
void RemoveReadyFile(const std::string& path);

}  // namespace strom::server

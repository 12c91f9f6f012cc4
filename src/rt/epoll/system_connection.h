#pragma once

#include <memory>
#include <string>

#include "rt/connection.h"
#include "rt/epoll/socket.h"

namespace strom::rt {

/// A connected socket as a Connection. It may die while a read or a write waits: those then end with kCancelled.
class SystemConnection final : public Connection {
 public:
  SystemConnection(SocketRef socket, std::string peer_address);
  ~SystemConnection() override { Close(); }

  Task<Result<size_t>> Read(std::span<uint8_t> into) override;
  Task<Status> Write(Pieces pieces) override;
  void Close() override;
  bool closed() const override { return socket_->closed(); }
  const std::string& peer_address() const override { return peer_address_; }

 private:
  SocketRef socket_;
  EpollExecutor* executor_;
  std::string peer_address_;
};

/// Options that every stream of ours has: small frames leave at once.
void ConfigureStream(int descriptor);

}  // namespace strom::rt

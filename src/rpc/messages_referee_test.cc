// libprotobuf as the referee: random messages of every kind, made from messages.tsv at run time, must mean the same to both codecs.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "rpc/message_registry.h"
#include "rt/pieces.h"

namespace strom::rpc {
namespace {

namespace pb = google::protobuf;

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> columns(1);
  for (const char c : line) {
    if (c == '\t') {
      columns.emplace_back();
    } else {
      columns.back().push_back(c);
    }
  }
  return columns;
}

void AddField(const std::vector<std::string>& row, pb::DescriptorProto* message) {
  static const std::map<std::string, pb::FieldDescriptorProto::Type> kTypes{
      {"int32", pb::FieldDescriptorProto::TYPE_INT32},   {"int64", pb::FieldDescriptorProto::TYPE_INT64},
      {"bool", pb::FieldDescriptorProto::TYPE_BOOL},     {"float", pb::FieldDescriptorProto::TYPE_FLOAT},
      {"double", pb::FieldDescriptorProto::TYPE_DOUBLE}, {"string", pb::FieldDescriptorProto::TYPE_BYTES},
      {"bytes", pb::FieldDescriptorProto::TYPE_BYTES}};
  static const std::map<std::string, pb::FieldDescriptorProto::Label> kLabels{
      {"required", pb::FieldDescriptorProto::LABEL_REQUIRED},
      {"optional", pb::FieldDescriptorProto::LABEL_OPTIONAL},
      {"repeated", pb::FieldDescriptorProto::LABEL_REPEATED}};
  pb::FieldDescriptorProto* field = message->add_field();
  field->set_name(row[1]);
  field->set_number(std::stoi(row[2]));
  field->set_label(kLabels.at(row[3]));
  const auto scalar = kTypes.find(row[4]);
  if (scalar != kTypes.end()) {
    field->set_type(scalar->second);
  } else {
    field->set_type(pb::FieldDescriptorProto::TYPE_MESSAGE);
    field->set_type_name(".fluss." + row[4]);
  }
  if (row[5] == "packed") field->mutable_options()->set_packed(true);
}

class Referee {
 public:
  Referee() {
    pb::FileDescriptorProto file;
    file.set_name("messages.proto");
    file.set_package("fluss");
    file.set_syntax("proto2");
    std::map<std::string, pb::DescriptorProto*> messages;
    std::ifstream rows(std::string(STROM_SOURCE_DIR) + "/docs/spec/messages.tsv");
    std::string line;
    std::getline(rows, line);
    while (std::getline(rows, line)) {
      const std::vector<std::string> row = SplitTabs(line);
      if (row[0].starts_with("CONST:")) continue;
      pb::DescriptorProto*& message = messages[row[0]];
      if (message == nullptr) {
        message = file.add_message_type();
        message->set_name(row[0]);
      }
      if (row[1] != "-") AddField(row, message);
    }
    file_ = pool_.BuildFile(file);
  }
  const pb::FileDescriptor* file() const { return file_; }
  std::unique_ptr<pb::Message> New(std::string_view name) {
    const pb::Descriptor* descriptor = pool_.FindMessageTypeByName("fluss." + std::string(name));
    return descriptor == nullptr ? nullptr : std::unique_ptr<pb::Message>(factory_.GetPrototype(descriptor)->New());
  }

 private:
  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_{&pool_};
  const pb::FileDescriptor* file_ = nullptr;
};

int64_t RandomNumber(Random& random) {
  switch (random.Below(6)) {
    case 0: return 0;
    case 1: return -1;
    case 2: return random.OneIn(2) ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    default: return static_cast<int64_t>(random.Next()) >> random.Below(64);
  }
}

std::string RandomBytes(Random& random) {
  // Sizes around the step of the length prefix from one byte to two.
  std::string bytes(random.OneIn(4) ? 120 + random.Below(20) : random.Below(8), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

void Fill(pb::Message* message, Random& random, int depth);

void SetOne(pb::Message* message, const pb::FieldDescriptor* field, Random& random, int depth) {
  const pb::Reflection* reflection = message->GetReflection();
  const bool add = field->is_repeated();
  const auto set = [&](auto setter, auto adder, auto value) {
    add ? (reflection->*adder)(message, field, value) : (reflection->*setter)(message, field, value);
  };
  using R = pb::Reflection;
  switch (field->cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return set(&R::SetInt32, &R::AddInt32, static_cast<int32_t>(RandomNumber(random)));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return set(&R::SetInt64, &R::AddInt64, RandomNumber(random));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return set(&R::SetBool, &R::AddBool, random.OneIn(2));
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return set(&R::SetFloat, &R::AddFloat, static_cast<float>(random.Fraction()));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return set(&R::SetDouble, &R::AddDouble, random.Fraction());
    case pb::FieldDescriptor::CPPTYPE_STRING:
      add ? reflection->AddString(message, field, RandomBytes(random)) : reflection->SetString(message, field, RandomBytes(random));
      return;
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      Fill(add ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field), random, depth + 1);
      return;
    default:
      FAIL() << field->full_name();
  }
}

void Fill(pb::Message* message, Random& random, int depth) {
  const pb::Descriptor* descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const pb::FieldDescriptor* field = descriptor->field(i);
    if (field->is_required()) {
      SetOne(message, field, random, depth);
    } else if (depth < 6 && field->is_repeated()) {
      for (uint64_t count = random.Below(4); count > 0; --count) SetOne(message, field, random, depth);
    } else if (depth < 6 && random.OneIn(2)) {
      SetOne(message, field, random, depth);
    }
  }
}

uint64_t Seed() {
  const char* seed = std::getenv("STROM_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 20260501;
}

TEST(Referee, ReadsTheSameMessagesAsTheSpec) {
  Referee referee;
  ASSERT_NE(referee.file(), nullptr);
  EXPECT_EQ(static_cast<size_t>(referee.file()->message_type_count()), RegisteredMessages().size());
}

TEST(Referee, AgreesOnRandomMessagesOfEveryKind) {
  Referee referee;
  ASSERT_NE(referee.file(), nullptr);
  const uint64_t seed = Seed();
  Random random(seed);
  for (const RegisteredMessage& ours : RegisteredMessages()) {
    const std::unique_ptr<pb::Message> theirs = referee.New(ours.info->name);
    ASSERT_NE(theirs, nullptr) << ours.info->name;
    for (int round = 0; round < 20; ++round) {
      theirs->Clear();
      Fill(theirs.get(), random, 0);
      std::string sent;
      ASSERT_TRUE(theirs->SerializeToString(&sent));
      const Result<rt::Pieces> encoded = ours.reencode(Buffer::CopyOf(sent));
      ASSERT_TRUE(encoded.ok()) << "seed " << seed << " " << encoded.ToString() << "\n" << theirs->DebugString();
      const Buffer back = *rt::Flatten(*encoded);
      ASSERT_EQ(back.size(), sent.size()) << "seed " << seed << "\n" << theirs->DebugString();
      // The order of fields may differ, so libprotobuf reads ours and writes it again.
      const std::unique_ptr<pb::Message> received = referee.New(ours.info->name);
      ASSERT_TRUE(received->ParseFromArray(back.data(), static_cast<int>(back.size()))) << "seed " << seed << " " << ours.info->name;
      ASSERT_EQ(received->SerializeAsString(), sent) << "seed " << seed << "\n" << theirs->DebugString();
    }
  }
}

TEST(Referee, AgreesOnWhichDamagedMessagesAreNone) {
  Referee referee;
  ASSERT_NE(referee.file(), nullptr);
  const pb::LogSilencer silent;  // it tells of every message that it refuses
  const uint64_t seed = Seed() + 1;
  Random random(seed);
  int refused = 0;
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const RegisteredMessage& ours = RegisteredMessages()[random.Below(RegisteredMessages().size())];
    const std::unique_ptr<pb::Message> theirs = referee.New(ours.info->name);
    Fill(theirs.get(), random, 3);
    std::string bytes = theirs->SerializeAsString();
    if (bytes.empty()) continue;
    for (uint64_t damage = random.Between(1, 3); damage > 0; --damage) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    }
    if (random.OneIn(3)) bytes.resize(random.Below(bytes.size()) + 1);
    const bool they_read = theirs->ParseFromString(bytes);
    const bool we_read = ours.reencode(Buffer::CopyOf(bytes)).ok();
    // They know groups as unknown fields and merge repeated submessages; beyond that nobody may read what the other refuses.
    if (we_read && !they_read) {
      ADD_FAILURE() << "seed " << seed << " round " << round << " " << ours.info->name << " is read by us only";
    }
    ++(we_read ? accepted : refused);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace strom::rpc

// SPDX-License-Identifier: Apache-2.0
//
// A case of one of our modules: peer_module MODULE BENCHMARK [name=value...]; takes turns, see
// pipe.hpp. Values that read as integers are integers, all others are words. state.folder=FOLDER is
// the fact of that name; work=bytes says bytes where others say floating point operations.
#include "pipe.hpp"
#include "subject.hpp"

#include <charconv>
#include <exception>
#include <span>
#include <string_view>

namespace {

assay::record::Named named(std::string_view text) {
    const auto equals = text.find('=');
    const std::string name{text.substr(0, equals)};
    const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size()) return {name, number};
    return {name, std::string{value}};
}

std::string words_of(const assay::peers::Subject& subject) {
    for (const char* name : {"core_type", "implementation", "isa", "instructions", "planner"})
        if (std::string words = subject.setting(name); !words.empty()) return words;
    return "-";
}

int run(std::span<char*> arguments) {
    assay::record::NamedList given;
    std::string state;
    std::string work = "flops";
    for (const char* text : arguments.subspan(3)) {
        const auto parameter = named(text);
        if (parameter.name == "state.folder")
            state = assay::record::to_string(parameter.value);
        else if (parameter.name == "work")
            work = assay::record::to_string(parameter.value);
        else
            given.push_back(parameter);
    }
    assay::peers::Subject subject{arguments[1], arguments[2], given, false, state};
    subject.prove();
    return assay::peers::answer_turns(subject.work(work), words_of(subject),
                                      [&](std::size_t calls) { return subject.sample(calls); });
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::cerr << "usage: peer_module MODULE BENCHMARK [name=value...]\n";
        return 2;
    }
    try {
        return run({argv, static_cast<std::size_t>(argc)});
    } catch (const std::exception& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}

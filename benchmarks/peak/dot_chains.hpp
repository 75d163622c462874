// SPDX-License-Identifier: Apache-2.0
//
// The loop over the chains, for any instruction. No guard: it is included once per instruction set, in
// a namespace of its own, so that it is compiled for that set. `Op` there says what a sum and an
// operand are, how they are loaded and stored, and which instruction adds one's products to the other.

/// Loads one chain after the other and then runs them all. They are a pack of arguments, because an
/// array of them would not stay in registers.
template <class Op, std::size_t count, class... Sums>
HWY_INLINE void run_chains(const DotOperands& operands, std::size_t steps, Sums... sums) {
    if constexpr (sizeof...(sums) < count) {
        const auto next = Op::load_sum(operands.start, sizeof...(sums));
        run_chains<Op, count>(operands, steps, sums..., next);
    } else {
        const auto a0 = Op::load(operands.a, 0);
        const auto a1 = Op::load(operands.a, 1);
        const auto b0 = Op::load(operands.b, 0);
        const auto b1 = Op::load(operands.b, 1);
        for (std::size_t i = 0; i < steps; i += 2) {
            std::size_t chain = 0;
            ((sums = Op::add(sums, chain++ % 2 == 0 ? a0 : a1, b0)), ...);
            chain = 0;
            ((sums = Op::add(sums, chain++ % 2 == 0 ? a0 : a1, b1)), ...);
        }
        std::size_t chain = 0;
        (Op::store_sum(operands.result, chain++, sums), ...);
    }
}

template <class Op, std::size_t count>
void run(const DotOperands& operands, std::size_t steps) {
    run_chains<Op, count>(operands, steps);
}

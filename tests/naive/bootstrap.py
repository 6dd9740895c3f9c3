"""Intervals and p-values of a paired bootstrap, one draw after another."""

from __future__ import annotations


def measure(numerators, denominators, chosen):
    """A ratio of sums over the chosen documents."""
    return sum(numerators[row] for row in chosen) / sum(denominators[row] for row in chosen)


def p_value(first, second, draws):
    """The share of draws whose centred difference is as large as the one observed."""
    everything = range(len(first[0]))
    observed = measure(*first, everything) - measure(*second, everything)
    larger = 1
    for chosen in draws:
        difference = measure(*first, chosen) - measure(*second, chosen)
        if abs(difference - observed) >= abs(observed):
            larger += 1
    return larger / (1 + len(draws))


def interval(model, draws):
    """The values with a fortieth of the draws below and above, between draws where need be."""
    values = sorted(measure(*model, chosen) for chosen in draws)

    def at(share):
        position = share * (len(values) - 1)
        low = int(position)
        high = min(low + 1, len(values) - 1)
        return values[low] + (position - low) * (values[high] - values[low])

    return at(0.025), at(0.975)

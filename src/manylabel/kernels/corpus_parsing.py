"""Parse rows of ``label,label feature:value feature:value`` from blocks of bytes.

The kernels report the first line that they cannot parse; the caller explains what is wrong with it.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel

NEWLINE, RETURN, SPACE, TAB, HASH = 10, 13, 32, 9, 35
COMMA, COLON, PLUS, MINUS, POINT, ZERO, UPPER_E, LOWER_E = 44, 58, 43, 45, 46, 48, 69, 101

BAD, EXACT, LONG = 0, 1, 2

# Powers of ten that float64 holds exactly.
POWERS = np.array([float(f"1e{exponent}") for exponent in range(23)])
# Products and quotients of these and integers up to 2^53 are rounded once, so they are correct.
LARGEST_EXACT = 1 << 53
LARGEST_MANTISSA = 1 << 62
# Multiplying by this splits a float64 into halves whose products are exact (Veltkamp 1968).
SPLITTER = 134217729.0


@kernel
def read_index(block, at, stop):
    """Read a run of digits: its value, capped at 2^40, and where it ends."""
    value = np.int64(0)
    while at < stop:
        digit = np.int64(block[at]) - ZERO
        if digit < 0 or digit > 9:
            break
        value = min(value * 10 + digit, np.int64(1) << 40)
        at += 1
    return value, at


@kernel
def _product(a, b):
    """The product of two floats as a float and its rounding error, without loss (Dekker 1971)."""
    product = a * b
    a_high = SPLITTER * a - (SPLITTER * a - a)
    b_high = SPLITTER * b - (SPLITTER * b - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def _divide(mantissa, power):
    """Divide an integer by a power of ten: EXACT and the nearest float, or LONG if unsure.

    The quotient is corrected by its remainder. The result is EXACT if the largest possible error
    of that correction does not change it.
    """
    high = np.float64(mantissa)
    low = np.float64(mantissa - np.int64(high))
    quotient = high / power
    product, error = _product(quotient, power)
    correction = (((high - product) - error) + low) / power
    doubt = (abs(high - product) + abs(error) + abs(low)) / power * 2.0**-49
    least, most = quotient + (correction - doubt), quotient + (correction + doubt)
    return (EXACT, least) if least == most else (LONG, 0.0)


@kernel
def read_number(block, at, stop):
    """Read a decimal number: BAD, EXACT or LONG (needs slower rounding), value, end."""
    negative = False
    if at < stop and (block[at] == MINUS or block[at] == PLUS):
        negative = block[at] == MINUS
        at += 1
    mantissa, exponent, digits, exact = np.int64(0), np.int64(0), 0, True
    fraction = False
    while at < stop:
        if block[at] == POINT and not fraction:
            fraction = True
            at += 1
            continue
        digit = np.int64(block[at]) - ZERO
        if digit < 0 or digit > 9:
            break
        digits += 1
        at += 1
        if mantissa > LARGEST_MANTISSA // 10 - 1:
            exact = False
            continue
        mantissa = mantissa * 10 + digit
        exponent -= fraction
    if digits == 0:
        return BAD, 0.0, at
    if at < stop and (block[at] == LOWER_E or block[at] == UPPER_E):
        at += 1
        sign = 1
        if at < stop and (block[at] == MINUS or block[at] == PLUS):
            sign = -1 if block[at] == MINUS else 1
            at += 1
        power, end = read_index(block, at, stop)
        if end == at:
            return BAD, 0.0, at
        exponent += sign * power
        at = end
    if not exact or exponent > 22 or exponent < -22:
        return LONG, 0.0, at
    kind = EXACT
    if mantissa > LARGEST_EXACT:
        kind, value = _divide(mantissa, POWERS[-exponent]) if exponent <= 0 else (LONG, 0.0)
    elif exponent >= 0:
        value = np.float64(mantissa) * POWERS[exponent]
    else:
        value = np.float64(mantissa) / POWERS[-exponent]
    return kind, -value if negative else value, at


@kernel
def _is_blank(byte):
    return byte in (SPACE, TAB)


@kernel
def _read_labels(block, at, stop, n_labels, labels, n):
    """Append the labels at the start of a line; where they end (-1 if invalid), and how many.

    A line that starts with a blank or with a feature has no labels.
    """
    if at == stop or _is_blank(block[at]):
        return at, n
    value, end = read_index(block, at, stop)
    if end > at and end < stop and block[end] == COLON:
        return at, n
    while True:
        if end == at or value >= n_labels:
            return -1, n
        labels[n] = value
        n += 1
        if end == stop or _is_blank(block[end]):
            return end, n
        if block[end] != COMMA:
            return -1, n
        at = end + 1
        value, end = read_index(block, at, stop)


@kernel
def _read_pair(block, at, stop, n_features):
    """Read one ``feature:value``: kind, feature, value, and where the value begins and ends."""
    feature, end = read_index(block, at, stop)
    if end in (at, stop) or block[end] != COLON or feature >= n_features:
        return BAD, feature, 0.0, end, end
    start = end + 1
    kind, value, end = read_number(block, start, stop)
    if end < stop and not _is_blank(block[end]):
        kind = BAD
    return kind, feature, value, start, end


@kernel
def _end_of_line(block, at, loose):
    """Where the content of a line ends and where the next line begins."""
    stop = at
    while stop < block.size and block[stop] != NEWLINE:
        stop += 1
    following = stop + 1
    if stop > at and block[stop - 1] == RETURN:
        stop -= 1
    if loose:
        for place in range(at, stop):
            if block[place] == HASH:
                return place, following
    return stop, following


@kernel
def parse_rows(
    block,
    n_labels,
    n_features,
    loose,
    labels,
    label_ends,
    features,
    values,
    feature_ends,
    row_lines,
    long_entries,
    long_bounds,
):
    """Fill the output arrays with the rows of a block.

    ``loose`` skips blank lines and lets ``#`` start a comment (svmlight); otherwise each line is a
    row. Returns the number of rows, the number of values that the caller must convert, the number
    of lines, the invalid line (-1 if none), and whether the features increase in every row.
    """
    rows, n_label_entries, n_entries, n_long, line, at = 0, 0, 0, 0, 0, 0
    increasing = True
    while at < block.size:
        stop, following = _end_of_line(block, at, loose)
        first_label, first_entry = n_label_entries, n_entries
        at, n_label_entries = _read_labels(block, at, stop, n_labels, labels, n_label_entries)
        if at < 0:
            return rows, n_long, line, line, increasing
        last = -1
        while True:
            while at < stop and _is_blank(block[at]):
                at += 1
            if at == stop:
                break
            kind, feature, value, start, at = _read_pair(block, at, stop, n_features)
            if kind == BAD:
                return rows, n_long, line, line, increasing
            if kind == LONG:
                long_entries[n_long] = n_entries
                long_bounds[n_long, 0], long_bounds[n_long, 1] = start, at
                n_long += 1
            features[n_entries] = feature
            values[n_entries] = value
            n_entries += 1
            increasing = increasing and feature > last
            last = feature
        if not loose or n_label_entries > first_label or n_entries > first_entry:
            label_ends[rows] = n_label_entries
            feature_ends[rows] = n_entries
            row_lines[rows] = line
            rows += 1
        line += 1
        at = following
    return rows, n_long, line, -1, increasing

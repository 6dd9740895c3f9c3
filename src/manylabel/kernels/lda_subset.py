"""Inference for unlabelled documents over a few candidate labels each, phi fixed.

The candidates of a document have their own prior. Because they are few, a table of phi for the
document's words and candidates is made once. A draw then reads the labels in use, and reads the
running sums of phi_wc a_c only if it falls into the prior's mass.
"""

from __future__ import annotations

import numpy as np

from manylabel.kernels.compile import kernel
from manylabel.kernels.heap import find
from manylabel.kernels.lda_active import NOTHING
from manylabel.kernels.lda_pairs import pick
from manylabel.kernels.lookup import entry
from manylabel.kernels.rng import document_name, mix, start_stream, uniform


@kernel
def phi_table(rows, words, first, n_types, labels):
    """A table of phi for a document's words (rows) and candidates (columns, ascending)."""
    n_labels = labels.size
    table = np.empty((n_types, n_labels))
    for kind in range(n_types):
        word = words[first + kind]
        low, high = rows.pointers[word], rows.pointers[word + 1]
        line = rows.lookup.at[word] if rows.lookup.at.size > 0 else -1
        if line >= 0:
            bits, before = rows.lookup.bits[line], rows.lookup.before[line]
            for j in range(n_labels):
                phi, place = rows.smooth[labels[j]], entry(bits, before, labels[j])
                if place >= 0:
                    phi += rows.phi[low + place]
                table[kind, j] = phi
        elif high - low < n_labels:
            for j in range(n_labels):
                table[kind, j] = rows.smooth[labels[j]]
            at = 0
            for i in range(low, high):
                at = find(labels, at, n_labels, rows.labels[i])
                if at == n_labels:
                    break
                if labels[at] == rows.labels[i]:
                    table[kind, at] += rows.phi[i]
        else:
            for j in range(n_labels):
                phi = rows.smooth[labels[j]]
                low = find(rows.labels, low, high, labels[j])
                if low < high and rows.labels[low] == labels[j]:
                    phi += rows.phi[low]
                table[kind, j] = phi
    return table


@kernel
def sample_candidates(start, stop, documents, rows, candidates, plan, seed, soft, findings):
    """Gibbs sampling; the plan is chains, burn-in, samples and lag.

    ``documents`` and ``candidates`` are the arrays of CSR matrices: counts of words, and prior
    weights of labels. The findings are the mean number of tokens of each candidate; ``wanted``,
    which maps a single document's candidates to columns or to -1, or is empty; and ``credit``, by
    word and column. With ``soft``, full conditional distributions are summed instead of draws
    (CGS_p).
    """
    doc_ptr, words, values = documents
    candidate_ptr, labels, priors = candidates
    counts, wanted, credit = findings
    chains, burn_in, samples, lag = plan
    share = 1.0 / (chains * samples)
    state = np.empty(1, np.uint64)
    for row in range(start, stop):
        first, offset = doc_ptr[row], candidate_ptr[row]
        n_types = doc_ptr[row + 1] - first
        n_labels = candidate_ptr[row + 1] - offset
        if n_labels == 0 or n_types == 0:
            continue
        table = phi_table(rows, words, first, n_types, labels[offset : offset + n_labels])
        sums = np.empty((n_types, n_labels))
        n_tokens = 0
        weights = np.empty(n_types)
        for kind in range(n_types):
            total = 0.0
            for j in range(n_labels):
                total += table[kind, j] * priors[offset + j]
                sums[kind, j] = total
            n_tokens += int(np.ceil(values[first + kind]))
            weights[kind] = values[first + kind] / np.ceil(values[first + kind])
        assigned = np.empty(n_tokens, np.int32)
        label_n = np.zeros(n_labels)
        used = np.empty(n_labels, np.int32)
        place = np.empty(n_labels, np.int32)
        prior_share = np.zeros(n_types)
        name = document_name(words, values, first, doc_ptr[row + 1])
        for chain in range(chains):
            start_stream(state, seed, mix(name ^ mix(np.uint64(chain))))
            assigned[:] = -1
            label_n[:] = 0.0
            n_used = 0
            # Sweep 0 gives every token its first label.
            for sweep in range(burn_in + (samples - 1) * lag + 1):
                sampled = sweep >= burn_in and (sweep - burn_in) % lag == 0
                token = 0
                for kind in range(n_types):
                    weight = weights[kind]
                    for _ in range(int(np.ceil(values[first + kind]))):
                        old = assigned[token]
                        if old >= 0:
                            label_n[old] -= weight
                            if label_n[old] < NOTHING:
                                label_n[old] = 0.0
                                n_used -= 1
                                used[place[old]] = used[n_used]
                                place[used[n_used]] = place[old]
                        in_use = 0.0
                        for i in range(n_used):
                            in_use += table[kind, used[i]] * label_n[used[i]]
                        total = in_use + sums[kind, n_labels - 1]
                        target = uniform(state) * total
                        if sampled and soft:
                            prior_share[kind] += share * weight / total
                            for i in range(n_used):
                                part = table[kind, used[i]] * label_n[used[i]]
                                part *= share * weight / total
                                counts[offset + used[i]] += part
                                if wanted.size > 0 and wanted[used[i]] >= 0:
                                    credit[kind, wanted[used[i]]] += part
                        if target < in_use:
                            chosen = 0
                            for i in range(n_used):
                                chosen = used[i]
                                target -= table[kind, chosen] * label_n[chosen]
                                if target < 0.0:
                                    break
                        else:
                            chosen = pick(sums[kind], 0, n_labels, target - in_use)
                        if label_n[chosen] == 0.0:
                            used[n_used] = chosen
                            place[chosen] = n_used
                            n_used += 1
                        label_n[chosen] += weight
                        assigned[token] = chosen
                        if sampled and not soft:
                            counts[offset + chosen] += share * weight
                            if wanted.size > 0 and wanted[chosen] >= 0:
                                credit[kind, wanted[chosen]] += share * weight
                        token += 1
        if soft:
            for kind in range(n_types):
                for j in range(n_labels):
                    part = table[kind, j] * priors[offset + j] * prior_share[kind]
                    counts[offset + j] += part
                    if wanted.size > 0 and wanted[j] >= 0:
                        credit[kind, wanted[j]] += part


@kernel
def expect_candidates(start, stop, documents, rows, candidates, sweeps, settled, findings):
    """As :func:`sample_candidates`, by CVB0.

    Stops when a sweep moves less than ``settled`` of the document's weight.
    """
    doc_ptr, words, values = documents
    candidate_ptr, labels, priors = candidates
    counts, wanted, credit = findings
    for row in range(start, stop):
        first, offset = doc_ptr[row], candidate_ptr[row]
        n_types = doc_ptr[row + 1] - first
        n_labels = candidate_ptr[row + 1] - offset
        if n_labels == 0 or n_types == 0:
            continue
        table = phi_table(rows, words, first, n_types, labels[offset : offset + n_labels])
        prior = priors[offset : offset + n_labels]
        share = np.empty((n_types, n_labels))
        label_n = prior.copy()
        length = 0.0
        for kind in range(n_types):
            total = 0.0
            for j in range(n_labels):
                share[kind, j] = table[kind, j] * prior[j]
                total += share[kind, j]
            length += values[first + kind]
            for j in range(n_labels):
                share[kind, j] /= total
                label_n[j] += values[first + kind] * share[kind, j]
        mass = np.empty(n_labels)
        for _ in range(sweeps):
            moved = 0.0
            for kind in range(n_types):
                value = values[first + kind]
                one = min(value, 1.0)
                total = 0.0
                for j in range(n_labels):
                    mass[j] = table[kind, j] * (label_n[j] - one * share[kind, j])
                for j in range(n_labels):
                    total += mass[j]
                inverse = 1.0 / total
                for j in range(n_labels):
                    fresh = mass[j] * inverse
                    change = value * (fresh - share[kind, j])
                    share[kind, j] = fresh
                    label_n[j] += change
                    mass[j] = abs(change)
                for j in range(n_labels):
                    moved += mass[j]
            if moved <= settled * length:
                break
        for kind in range(n_types):
            for j in range(n_labels):
                part = values[first + kind] * share[kind, j]
                counts[offset + j] += part
                if wanted.size > 0 and wanted[j] >= 0:
                    credit[kind, wanted[j]] += part

/* Where to cut a job into steps: the exact programme over the price of the pieces. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "advise/cpu.h"
#include "advise/memory.h"
#include "advise/phases.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/maths.h"

enum { SIZES = 6 }; /* 1, 2, 4 ... 32 cores */

struct work {
	struct trk_split_options o;
	size_t sizes, blocks;
	double rate_s[SIZES]; /* $ a second of the cores alone */
	double gib_s;         /* $ a second of a GiB, margin in it */
	double overhead;      /* $ of one more piece */
	struct block *block;  /* one more than there are */
};

struct block {
	double time[SIZES]; /* of all blocks before this one */
	double peak_gib, seconds;
	size_t end_row;
	/* The best division of the blocks before this one: its price, where its last piece begins,
	 * and its number of pieces. */
	double best;
	size_t from, pieces;
};

static double or_default(double x, double otherwise)
{
	return x > 0 && x < INFINITY ? x : otherwise;
}

/* A figure that may be 0, or the last known one. */
static double or_last(double x, double last)
{
	return x >= 0 && x < INFINITY ? x : last;
}

static void work_options(struct work *w, const struct trk_split_options *options)
{
	if (options)
		w->o = *options;
	w->o.core_hour = or_default(w->o.core_hour, TRK_PRICE_CORE_HOUR);
	w->o.gib_hour = or_default(w->o.gib_hour, TRK_PRICE_GIB_HOUR);
	w->o.margin = or_default(w->o.margin, 1.1);
	w->o.overhead_s = or_default(w->o.overhead_s, 60);
	w->o.cores_max = or_default(w->o.cores_max, 32);
	w->o.saving_min = or_default(w->o.saving_min, 0.05);
	for (w->sizes = 0; w->sizes < SIZES; w->sizes++) {
		double cores = (double) (1 << w->sizes);

		if (w->sizes > 0 && cores > w->o.cores_max)
			break;
		w->rate_s[w->sizes] = w->o.core_hour * cores / 3600;
	}
	w->gib_s = w->o.gib_hour * w->o.margin / 3600;
	w->overhead = w->o.overhead_s * (2 * w->o.core_hour + 4 * w->o.gib_hour) / 3600;
}

/* Sum the rows into blocks of equal numbers of rows. */
static void work_fill(struct work *w, const double *seconds, const double *cores,
		      const double *memory, size_t rows)
{
	size_t a_block = (rows + TRK_SPLIT_BLOCKS_MAX - 1) / TRK_SPLIT_BLOCKS_MAX;
	double u = 0, gib = 0, share[SIZES];

	for (size_t k = 0; k < SIZES; k++)
		share[k] = 1.0 / (double) (1 << k);
	w->blocks = (rows + a_block - 1) / a_block;
	for (size_t b = 0; b < w->blocks; b++) {
		size_t end = (b + 1) * a_block < rows ? (b + 1) * a_block : rows;
		double time[SIZES], peak = 0, all = 0;

		for (size_t k = 0; k < SIZES; k++)
			time[k] = w->block[b].time[k];
		for (size_t i = b * a_block; i < end; i++) {
			double dt = or_default(seconds[i], 0);

			u = or_last(cores[i], u);
			gib = or_last(memory[i] / TRK_GIB, gib);
			peak = gib > peak ? gib : peak;
			all += dt;
			for (size_t k = 0; k < SIZES; k++) {
				double stretch = u * share[k];

				time[k] += stretch > 1 ? dt * stretch : dt;
			}
		}
		for (size_t k = 0; k < SIZES; k++)
			w->block[b + 1].time[k] = time[k];
		w->block[b].peak_gib = peak;
		w->block[b].seconds = all;
		w->block[b].end_row = end;
	}
}

/* Price of blocks [from..end) with this peak; *ret_size is the best number of cores. */
static double price_of(const struct work *w, size_t from, size_t end, double peak_gib,
		       size_t *ret_size)
{
	double memory = peak_gib * w->gib_s, least = INFINITY;

	for (size_t k = 0; k < w->sizes; k++) {
		double price =
			(w->block[end].time[k] - w->block[from].time[k]) * (w->rate_s[k] + memory);

		if (price < least) {
			least = price;
			*ret_size = k;
		}
	}
	return least;
}

/* F(end) = the least over `from` of F(from) + one(from..end) + overhead. */
static void programme(struct work *w)
{
	w->block[0].best = -w->overhead; /* the first piece starts in any case */
	for (size_t end = 1; end <= w->blocks; end++) {
		double peak = 0;

		w->block[end].best = INFINITY;
		for (size_t from = end; from-- > 0;) {
			double price;
			size_t size;

			peak = w->block[from].peak_gib > peak ? w->block[from].peak_gib : peak;
			if (w->block[from].pieces >= TRK_PHASES_MAX)
				continue;
			price = w->block[from].best + w->overhead +
				price_of(w, from, end, peak, &size);
			if (price < w->block[end].best) {
				w->block[end].best = price;
				w->block[end].from = from;
				w->block[end].pieces = w->block[from].pieces + 1;
			}
		}
	}
}

static struct trk_piece piece_of(const struct work *w, size_t from, size_t end)
{
	struct trk_piece p = {.end_row = w->block[end - 1].end_row};
	double peak = 0;
	size_t size = 0;

	for (size_t b = from; b < end; b++) {
		p.seconds += w->block[b].seconds;
		peak = w->block[b].peak_gib > peak ? w->block[b].peak_gib : peak;
	}
	p.price = price_of(w, from, end, peak, &size);
	p.run_time_s = w->block[end].time[size] - w->block[from].time[size];
	p.cores = (double) (1 << size);
	p.peak_bytes = peak * TRK_GIB;
	p.request_bytes = p.peak_bytes * w->o.margin;
	if (p.request_bytes < trk__memory_tuning.floor_bytes)
		p.request_bytes = trk__memory_tuning.floor_bytes;
	p.request_bytes = trk__ceil(p.request_bytes / trk__memory_tuning.step_bytes) *
			  trk__memory_tuning.step_bytes;
	return p;
}

/* The hint names the cut between the two neighbours whose requests differ most. */
static void hint(struct trk_split *s)
{
	size_t at = 1;
	double most = -1, start = 0, when = 0;

	for (size_t i = 0; i < s->piece_count; i++) {
		double gap = i > 0 ? fabs(s->piece[i].price / s->piece[i].seconds -
					  s->piece[i - 1].price / s->piece[i - 1].seconds)
				   : -1;

		if (gap > most) {
			most = gap;
			at = i;
			when = start;
		}
		start += s->piece[i].seconds;
	}
	s->cut_s = when;
	(void) snprintf(
		s->hint, sizeof(s->hint),
		"split here: after %.0f s; before it request %g cores and %.4g GiB, after it "
		"%g cores and %.4g GiB; %zu pieces in all save %.0f %%",
		when, s->piece[at - 1].cores, s->piece[at - 1].request_bytes / TRK_GIB,
		s->piece[at].cores, s->piece[at].request_bytes / TRK_GIB, s->piece_count,
		100 * s->saving);
}

static void conclude(const struct work *w, struct trk_split *s)
{
	size_t end = w->blocks, i = w->block[end].pieces;

	s->whole = piece_of(w, 0, w->blocks);
	s->price_whole = s->whole.price;
	s->piece_count = i;
	for (; i-- > 0; end = w->block[end].from)
		s->piece[i] = piece_of(w, w->block[end].from, end);
	if (s->price_whole > 0)
		s->saving = 1 - w->block[w->blocks].best / s->price_whole;
	if (s->piece_count < 2 || s->saving < 0)
		s->saving = 0;
	s->pays = s->piece_count >= 2 && s->saving >= w->o.saving_min;
	if (s->pays)
		hint(s);
}

int trk__split_advise(const double *seconds, const double *cores, const double *memory_bytes,
		      size_t rows, const struct trk_split_options *options, struct trk_split *ret)
{
	struct work w = {0};
	int rc;

	if (rows == 0)
		return -TRK_ERR_NODATA;
	work_options(&w, options);
	w.block = calloc(TRK_SPLIT_BLOCKS_MAX + 1, sizeof(*w.block));
	rc = w.block ? 0 : -ENOMEM;
	if (rc == 0) {
		work_fill(&w, seconds, cores, memory_bytes, rows);
		if (w.block[w.blocks].time[0] > 0) {
			programme(&w);
			*ret = (struct trk_split){0};
			conclude(&w, ret);
		} else {
			rc = -TRK_ERR_NODATA;
		}
	}
	free(w.block);
	return rc;
}

/* Phases of a job: where its figures change (for charts), and where to split it into steps with
 * separate requests (to save money). The two are different questions: a change of level is worth a
 * label, but only some changes are worth a cut. */
#ifndef TRK_ADVISE_PHASES_H
#define TRK_ADVISE_PHASES_H

#include <stdbool.h>
#include <stddef.h>

enum {
	TRK_PHASES_MAX = 64,
	TRK_SPLIT_BLOCKS_MAX = 1024,
	TRK_SPLIT_HINT_SIZE = 240,
};

/* --- change points ----------------------------------------------------------------------------
 *
 * Binary segmentation with the squared distance from the mean as cost, summed over the columns:
 * repeatedly cut the segment whose best cut gains most, as long as the gain is above `penalty`. The
 * same cuts as Binseg(model="l2", jump=1) of the Python package ruptures. */

/* Cut `rows` rows of `columns` columns (column[c][row], borrowed, all known numbers). A segment has
 * at least min_rows rows (1 at least). ret_end receives the ends of the segments in order, the last
 * of which is `rows`; room for cuts_max + 1. Returns the number of segments, 0 without rows;
 * -EINVAL for an unknown number or cuts_max >= TRK_PHASES_MAX; -ENOMEM. */
int trk__phases_cut(const double *const *column, size_t columns, size_t rows, size_t min_rows,
		    double penalty, size_t cuts_max, size_t *ret_end);

/* Scale a column to mean 0 and variance 1, in place (a constant column becomes 0). */
void trk__phases_normalise(double *column, size_t rows);

/* --- where to split ---------------------------------------------------------------------------
 *
 * Exact dynamic programme over the price of the pieces: one(a..b) = the least over k cores of
 * [sum of seconds * max(1, busy / k)] * (price of k cores and of the piece's peak memory with its
 * margin); every cut adds `overhead`. On at most 1,024 blocks of rows. */

struct trk_split_options {
	double core_hour, gib_hour; /* prices; 0: TRK_PRICE_... of cpu.h */
	double margin;              /* on peak memory; 0: 1.1 */
	double overhead_s; /* time to start each further step, on 2 cores and 4 GiB; 0: 60 s */
	double cores_max;  /* 0: 32 */
	double saving_min; /* share below which no split is advised; 0: 0.05 */
};

struct trk_piece {
	size_t end_row;
	double seconds;       /* as measured */
	double run_time_s;    /* with `cores` */
	double cores;         /* request */
	double peak_bytes;    /* of the piece */
	double request_bytes; /* peak * margin, rounded up to 128 MiB, 256 MiB at least */
	double price;         /* by the prices above */
};

struct trk_split {
	bool pays;     /* pieces >= 2 and the saving is saving_min at least */
	double saving; /* share of the price of running it whole, overhead paid; 0 when whole */
	double price_whole;
	size_t piece_count; /* 1: whole */
	struct trk_piece piece[TRK_PHASES_MAX];
	struct trk_piece whole;
	double cut_s; /* the cut that the hint names: seconds of the rows before it; 0: none */
	char hint[TRK_SPLIT_HINT_SIZE]; /* "split here: ..."; empty unless it pays */
};

/* Rows in time order: seconds that each covers, cores busy, memory (borrowed). A row with an
 * unknown figure counts with the last known one. Returns 0; -TRK_ERR_NODATA without a row of known
 * time; -ENOMEM. options may be NULL. */
int trk__split_advise(const double *seconds, const double *cores, const double *memory_bytes,
		      size_t rows, const struct trk_split_options *options, struct trk_split *ret);

#endif

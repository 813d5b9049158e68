// Reads the samples of the recording that is embedded in the page. src/recording/format.h describes the format.
// Damaged records are skipped, as in C.

const sampleRecord = 2;
const thinnedRecord = 3;
const startRecord = 1;
const frameSize = 14;
const payloadMax = 256 * 1024;

const crcTable = Uint32Array.from({ length: 256 }, (_, i) => {
	let value = i;
	for (let bit = 0; bit < 8; bit++) {
		value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
	}
	return value;
});

function crc32c(crc, bytes, from, to) {
	let value = ~crc;
	for (let i = from; i < to; i++) {
		value = crcTable[(value ^ bytes[i]) & 255] ^ (value >>> 8);
	}
	return ~value >>> 0;
}

class Cursor {
	constructor(bytes, at, end) {
		Object.assign(this, { bytes, at, end });
	}

	byte() {
		if (this.at >= this.end) {
			throw new RangeError("a record that ends too soon");
		}
		return this.bytes[this.at++];
	}

	// Reads a number of variable length; exact up to 2^53.
	number() {
		let value = 0;
		let factor = 1;
		for (;;) {
			const byte = this.byte();
			value += (byte & 127) * factor;
			if (byte < 128) {
				return value;
			}
			factor *= 128;
		}
	}

	signed() {
		const value = this.number();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}

	// Reads 64 bits into bits[first] to bits[first + 63].
	bits(bits, first) {
		for (let shift = 0; ; shift += 7) {
			const byte = this.byte();
			for (let i = 0; i < 7 && shift + i < 64; i++) {
				bits[first + shift + i] = (byte >> i) & 1;
			}
			if (byte < 128) {
				bits.fill(0, first + shift + 7, first + 64);
				return;
			}
		}
	}

	text() {
		const length = this.number();
		const from = this.at;
		this.at += length;
		return new TextDecoder().decode(this.bytes.subarray(from, Math.min(this.at, this.end)));
	}
}

function littleEndian(bytes, at) {
	return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

// Size in bytes of the record at `at`; 0 if there is no intact record.
function sizeAt(bytes, at) {
	if (bytes[at] !== 0xb5 || bytes[at + 1] !== 0x72 || bytes[at + 2] !== 0x74 || bytes[at + 3] !== 0x6b) {
		return 0;
	}
	const length = littleEndian(bytes, at + 6);
	const end = at + frameSize + length;
	if (length > payloadMax || end > bytes.length) {
		return 0;
	}
	const crc = crc32c(crc32c(0, bytes, at + 4, at + 10), bytes, at + frameSize, end);
	return crc === littleEndian(bytes, at + 10) ? frameSize + length : 0;
}

class Rows {
	// wanted: names of the columns to read.
	constructor(wanted) {
		this.wanted = wanted;
		this.columns = [];
		this.bits = new Uint8Array(128);
	}

	readSchema(cursor) {
		const count = cursor.number();
		this.columns = Array.from({ length: count }, () => {
			const name = cursor.text();
			return { at: this.wanted.indexOf(name), divisor: cursor.number() };
		});
	}

	// The values of the wanted columns in a row; NaN if the row does not have the value.
	readRow(cursor) {
		const values = new Float64Array(this.wanted.length).fill(NaN);
		cursor.bits(this.bits, 0);
		if (this.columns.length > 64) {
			cursor.bits(this.bits, 64);
		}
		this.columns.forEach(({ at, divisor }, i) => {
			if (this.bits[i]) {
				const value = cursor.signed();
				if (at >= 0) {
					values[at] = value / divisor;
				}
			}
		});
		return values;
	}

	readRecord(type, cursor) {
		if (type === startRecord) {
			this.readSchema(cursor);
		} else if (type === sampleRecord) {
			const mean = this.readRow(cursor);
			return { count: 1, mean, min: mean, max: mean };
		} else if (type === thinnedRecord) {
			const count = cursor.number();
			return { count, mean: this.readRow(cursor), min: this.readRow(cursor), max: this.readRow(cursor) };
		}
		return null;
	}
}

// Decodes base64, and yields after each slice so that the page stays responsive.
function* decoded(text) {
	const bytes = new Uint8Array(Math.floor((text.length / 4) * 3));
	let length = 0;
	for (let at = 0; at < text.length; at += 1 << 18) {
		const piece = atob(text.slice(at, at + (1 << 18)));
		for (let i = 0; i < piece.length; i++) {
			bytes[length++] = piece.charCodeAt(i);
		}
		yield;
	}
	return bytes.subarray(0, length);
}

function* rowsOf(text, wanted) {
	const bytes = yield* decoded(text);
	const rows = new Rows(wanted);
	const found = [];
	for (let at = 8; at + frameSize <= bytes.length; ) {
		const size = sizeAt(bytes, at);
		if (!size) {
			at = bytes.indexOf(0xb5, at + 1);
			if (at < 0) {
				break;
			}
			continue;
		}
		try {
			const row = rows.readRecord(bytes[at + 4], new Cursor(bytes, at + frameSize, at + size));
			if (row) {
				found.push(row);
			}
		} catch {
			// The record is malformed: skip it.
		}
		at += size;
		yield;
	}
	return found;
}

// Reads all rows of the recording in slices of about 8 ms, so that the page stays responsive.
export function readRows(text, wanted) {
	return new Promise((done) => {
		const work = rowsOf(text, wanted);
		const go = () => {
			const until = performance.now() + 8;
			while (performance.now() < until) {
				for (let i = 0; i < 64; i++) {
					const step = work.next();
					if (step.done) {
						done(step.value);
						return;
					}
				}
			}
			setTimeout(go);
		};
		go();
	});
}

// Formats numbers and times like the C code.

export const dash = "\u2014";

export function number(value) {
	const size = Math.abs(value);
	if (value === 0) {
		return "0";
	}
	if (size < 0.01) {
		return "< 0.01";
	}
	if (size >= 99.95) {
		return value.toFixed(0);
	}
	return value.toFixed(size < 0.995 ? 2 : 1);
}

// Formats a duration: "4 m 0 s", "0.25 s", "1 h 30 m".
export function duration(seconds) {
	if (seconds < 20) {
		return `${+seconds.toFixed(seconds < 2 ? 2 : 1)} s`;
	}
	const whole = Math.round(seconds);
	if (whole < 60) {
		return `${whole} s`;
	}
	if (whole < 3600) {
		return `${Math.floor(whole / 60)} m ${whole % 60} s`;
	}
	if (whole >= 48 * 3600) {
		const hours = Math.round(seconds / 3600);
		return `${Math.floor(hours / 24)} d ${hours % 24} h`;
	}
	return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} m`;
}

function timeOfDay(data, at, span) {
	const text = new Date((data.start + at) * 1000).toISOString();
	const time = span >= 600 ? text.slice(11, 16) : text.slice(11, span >= 10 || !span ? 19 : 21);
	return data.dates ? `${text.slice(5, 10)} ${time}` : time;
}

// Formats a time of day for the axis.
export function clockTime(data, at, step) {
	const text = new Date(Math.round((data.start + at) * 1000)).toISOString();
	const time = step < 60 ? text.slice(11, 19) : text.slice(11, 16);
	return data.dates ? `${text.slice(5, 10)} ${time}` : time;
}

// Formats a moment of the run, as precisely as a view of `span` seconds allows; 0: to the second.
export function moment(data, at, span) {
	return data.clock ? timeOfDay(data, at, span) : duration(at);
}

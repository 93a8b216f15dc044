// Topic filters of MQTT 3.1.1, section 4.7: `+` is one level, `#` is all that follow and the level above.

/** Whether a text can be a topic that one publishes to. */
export const isTopic = (text: string): boolean => text.length > 0 && !/[+#\0]/.test(text);

/** Whether a text can be a filter: `+` is a whole level, `#` the last one. */
export function isFilter(text: string): boolean {
	if (text.length === 0 || text.includes('\0')) return false;
	const levels = text.split('/');
	return levels.every((level, i) => !/[+#]/.test(level) || level === '+' || (level === '#' && i === levels.length - 1));
}

/** A filter that begins with a wildcard does not match topics that begin with `$` [MQTT-4.7.2-1]. */
const isHidden = (filter: string, topic: string): boolean => topic.startsWith('$') && /^[+#]/.test(filter);

export function topicMatches(filter: string, topic: string): boolean {
	if (isHidden(filter, topic)) return false;
	const wanted = filter.split('/');
	const levels = topic.split('/');
	for (const [i, level] of wanted.entries()) {
		if (level === '#') return true;
		if (i >= levels.length || (level !== '+' && level !== levels[i])) return false;
	}
	return wanted.length === levels.length;
}

/** Whether some topic matches both filters. */
export function filtersOverlap(a: string, b: string): boolean {
	if (isHidden(a, b) || isHidden(b, a)) return false;
	const left = a.split('/');
	const right = b.split('/');
	for (let i = 0; ; i++) {
		const l = left[i];
		const r = right[i];
		if (l === '#' || r === '#') return true;
		// `a/#` matches `a`, so the shorter one may end where the other goes on with `#`, which was seen above.
		if (l === undefined || r === undefined) return l === r;
		if (l !== '+' && r !== '+' && l !== r) return false;
	}
}

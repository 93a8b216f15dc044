// The part of Kubernetes' JSONPath that finds fields of one object: `{.status.conditions[?(@.type=="Ready")].status}`. Pure.
// (kubernetes.io/docs/reference/kubectl/jsonpath; ranges, unions and templates are left out.)

export type JsonPath = readonly PathStep[];

type PathStep =
	| {readonly type: 'key'; readonly key: string}
	/** Negative: from the end. */
	| {readonly type: 'index'; readonly index: number}
	| {readonly type: 'all'}
	| {readonly type: 'filter'; readonly path: JsonPath; readonly equal: boolean; readonly value: string};

const key = /\.((?:[^.[\]\\{}\s]|\\.)+)/y;
const quoted = /\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;
const index = /\[(-?\d{1,9})\]/y;
const all = /\[\*\]|\.\*/y;
const filter = /\[\?\(@((?:[^=!'"()])*?)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([\w.+-]+))\)\]/y;

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1');

/** Reads `{.a.b}`, `.a.b` or `a.b`. Undefined: it is none. */
export function parseJsonPath(text: string): JsonPath | undefined {
	const inner = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1).trim() : text.trim();
	const plain = inner.replace(/^\$/, '');
	return stepsOf(plain === '' || /^[.[]/.test(plain) ? plain : `.${plain}`);
}

function stepsOf(text: string): JsonPath | undefined {
	const steps: PathStep[] = [];
	for (let at = 0; at < text.length;) {
		const found = stepAt(text, at);
		if (found === undefined) return undefined;
		steps.push(found.step);
		at = found.end;
	}
	return steps.length === 0 ? undefined : steps;
}

function stepAt(text: string, at: number): {readonly step: PathStep; readonly end: number} | undefined {
	const matched = (pattern: RegExp): RegExpExecArray | undefined => {
		pattern.lastIndex = at;
		return pattern.exec(text) ?? undefined;
	};
	const done = ([whole]: RegExpExecArray, step: PathStep) => ({step, end: at + whole.length});
	const any = matched(all);
	if (any !== undefined) return done(any, {type: 'all'});
	const named = matched(key) ?? matched(quoted);
	if (named !== undefined) return done(named, {type: 'key', key: unescaped(named[1] ?? named[2] ?? '')});
	const numbered = matched(index);
	if (numbered !== undefined) return done(numbered, {type: 'index', index: Number(numbered[1])});
	const chosen = matched(filter);
	if (chosen === undefined) return undefined;
	const path = stepsOf(chosen[1] ?? '');
	if (path === undefined) return undefined;
	return done(chosen, {type: 'filter', path, equal: chosen[2] === '==', value: chosen[3] ?? chosen[4] ?? chosen[5] ?? ''});
}

/** Every value the path leads to; none where it leads nowhere. */
export const valuesAt = (path: JsonPath, value: unknown): readonly unknown[] =>
	path.reduce<readonly unknown[]>((values, step) => values.flatMap(each => after(step, each)), [value]);

function after(step: PathStep, value: unknown): readonly unknown[] {
	switch (step.type) {
		case 'key':
			return isRecord(value) && Object.hasOwn(value, step.key) ? [value[step.key]] : [];
		case 'index':
			return Array.isArray(value) ? (value as readonly unknown[]).slice(step.index).slice(0, 1) : [];
		case 'all':
			return Array.isArray(value) ? (value as readonly unknown[]) : isRecord(value) ? Object.values(value) : [];
		case 'filter': {
			const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
			return items.filter(item => valuesAt(step.path, item).some(found => asWord(found) === step.value) === step.equal);
		}
	}
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A plain value as people type it; others as JSON. */
export const asWord = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

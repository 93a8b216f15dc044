// What could stand where the cursor is, as far as the words in front of it tell. Pure: what only a cluster knows is asked for by name.

import {findKind, kinds} from '../../api/catalogue.js';
import type {KindDefinition} from '../../api/kind.js';
import type {CommandSpec, FlagSpec, FlagSpecs} from '../command.js';
import {withoutLeading} from '../command-line/leading-flags.js';
import {inputsOf, type InputKind} from './inputs.js';

export type Candidate = {readonly word: string; readonly about: string};

/** Names that a cluster knows, each between two texts. */
export type Asked = {readonly before: string; readonly after: string} & (
	| {readonly type: 'names'; readonly kind: KindDefinition; readonly without: readonly string[]}
	| {readonly type: 'containers'; readonly pod: string}
	/** What is directly below a place; of the empty one the systems. */
	| {readonly type: 'actors'; readonly place: string}
	| {readonly type: 'fields'; readonly word: string}
);

export type Place = {
	readonly words: readonly Candidate[];
	readonly asked: Asked | undefined;
	/** Whether a file may stand there. */
	readonly files: boolean;
	/** What the words in front said about where to look. */
	readonly flags: {readonly [name: string]: string};
};

type Scanned = {
	readonly inputs: readonly string[];
	readonly flags: {readonly [name: string]: string};
	readonly open: [string, FlagSpec] | undefined;
};

const helpWord: Candidate = {word: 'help', about: 'tell what commands do and take'};

/** The place of the last word, which may be empty or begun. */
export function placeOf(typed: readonly string[], commands: readonly CommandSpec[]): Place {
	const {leading, rest: words} = withoutLeading(typed);
	const [name = '', ...rest] = words;
	const verbs = commands.map(command => ({word: command.name, about: command.summary}));
	if (rest.length === 0) return name.startsWith('-') ? place({}) : place({words: [...verbs, helpWord]});
	const command = commands.find(each => each.name === name || each.aliases?.includes(name) === true);
	if (name === 'help') return place({words: rest.length === 1 ? verbs : []});
	if (command === undefined) return place({});
	const current = rest.at(-1) ?? '';
	const before = [...leading, ...rest.slice(0, -1)];
	if (before.includes('--')) return place({files: true});
	const {inputs, flags, open} = scan(before, command.flags);
	if (open !== undefined) return {...valueOf(open, '', inputs), flags};
	const written = /^--([\w-]+)=/.exec(current);
	if (written !== null) {
		const spec = command.flags[written[1] ?? ''];
		return spec === undefined ? place({flags}) : {...valueOf([written[1] ?? '', spec], written[0], inputs), flags};
	}
	if (current.startsWith('-')) return place({words: flagWords(command.flags), flags});
	return {...inputOf(inputsOf[command.name] ?? {type: 'nothing'}, inputs, current), flags};
}

const place = (some: Partial<Place>): Place => ({words: [], asked: undefined, files: false, flags: {}, ...some});

/** Tells flags with their values from other words; `open` is a flag that waits for its value. */
function scan(words: readonly string[], specs: FlagSpecs): Scanned {
	const inputs: string[] = [];
	const flags: Record<string, string> = {};
	let open: [string, FlagSpec] | undefined;
	for (const word of words) {
		if (open !== undefined) {
			flags[open[0]] = word;
			open = undefined;
			continue;
		}
		if (!/^-./.test(word)) {
			inputs.push(word);
			continue;
		}
		const [head = '', ...value] = word.split('=');
		const found = Object.entries(specs).find(([name, {short}]) => head === `--${name}` || (short !== undefined && head === `-${short}`));
		if (found === undefined) continue;
		if (value.length > 0) flags[found[0]] = value.join('=');
		else if (found[1].type === 'boolean') flags[found[0]] = 'true';
		else open = found;
	}
	return {inputs, flags, open};
}

const flagWords = (specs: FlagSpecs): readonly Candidate[] => Object.entries(specs).map(([name, {about}]) => ({word: `--${name}`, about}));

const fileFlags = new Set(['filename', 'patch-file', 'home', 'kubeconfig', 'ca', 'cert', 'key', 'cache', 'host-paths', 'volumes']);

/** What the value of a flag may be. */
function valueOf([name, spec]: [string, FlagSpec], before: string, inputs: readonly string[]): Place {
	if (spec.choices !== undefined) return place({words: spec.choices.map(word => ({word: before + word, about: ''}))});
	if (fileFlags.has(name)) return place({files: true});
	if (name === 'namespace') return place({asked: namesOf('namespaces', before)});
	if (name === 'node' && spec.multiple === true) return place({asked: namesOf('nodes', before)});
	if (name === 'container') return place({asked: {type: 'containers', pod: (inputs[0] ?? '').replace(/^pods?\//, ''), before, after: ''}});
	if (name === 'for' && spec.value === 'WHAT')
		return place({words: ['delete', 'create', 'condition=', 'jsonpath='].map(word => ({word: before + word, about: ''}))});
	return place({});
}

function namesOf(kind: string, before = '', without: readonly string[] = [], after = ''): Asked | undefined {
	const found = findKind(kind);
	return found === undefined ? undefined : {type: 'names', kind: found, before, after, without};
}

function inputOf(input: InputKind, inputs: readonly string[], current: string): Place {
	switch (input.type) {
		case 'nothing':
			return place({});
		case 'files':
			return place({files: true});
		case 'words':
			if (inputs.length === 0) return place({words: input.words.map(word => ({word, about: ''}))});
			return input.then === undefined ? place({}) : inputOf(input.then, inputs.slice(1), current);
		case 'verbs': {
			const [verb, ...others] = inputs;
			if (verb === undefined) return place({words: Object.keys(input.verbs).map(word => ({word, about: ''}))});
			return Object.hasOwn(input.verbs, verb) ? inputOf(input.verbs[verb] ?? {type: 'nothing'}, others, current) : place({});
		}
		case 'names':
			if (input.once === true && inputs.length > 0) return place({});
			if (input.orKind === true && current.includes('/')) return targetOf(inputs, current, kinds, []);
			return place({asked: namesOf(input.kind, '', inputs, input.ending), files: input.ending !== undefined});
		case 'fields':
			if (inputs.length > 0) return place({});
			if (current.includes('.')) return place({asked: {type: 'fields', word: current, before: '', after: ''}});
			return place({words: kindWords(kinds, '', '')});
		case 'actors':
			return actorAt(current);
		case 'targets':
			return targetOf(inputs, current, input.scalable === true ? kinds.filter(({scalable}) => scalable) : kinds, input.more ?? []);
	}
}

/** `pod/web-1`, `hand/web-1`, or level by level: `control/`, `control/pods/`. */
function actorAt(current: string): Place {
	const slash = current.lastIndexOf('/');
	const head = current.slice(0, slash + 1);
	if (slash < 0)
		return place({
			words: [...kinds.map(({singular}) => singular), 'hand'].map(word => ({word: `${word}/`, about: ''})),
			asked: {type: 'actors', place: '', before: '', after: ''},
		});
	const names = head === 'hand/' ? namesOf('pods', head) : head.indexOf('/') === slash ? namesOf(head.slice(0, -1), head) : undefined;
	return place({asked: names ?? {type: 'actors', place: head.slice(0, -1), before: head, after: ''}});
}

/** `KIND NAME…`, `KIND,KIND`, `KIND/NAME…`. */
function targetOf(inputs: readonly string[], current: string, among: readonly KindDefinition[], more: readonly Candidate[]): Place {
	const slash = current.indexOf('/');
	if (slash >= 0) return place({asked: namesOf(current.slice(0, slash), current.slice(0, slash + 1), inputs)});
	const [first] = inputs;
	if (first === undefined) {
		const comma = current.lastIndexOf(',') + 1;
		return place({words: [...kindWords(among, current.slice(0, comma), ''), ...(comma === 0 ? more : [])]});
	}
	if (first.includes('/')) return place({words: kindWords(among, '', '/')});
	return place({asked: namesOf(first, '', inputs.slice(1))});
}

const kindWords = (among: readonly KindDefinition[], before: string, after: string): readonly Candidate[] =>
	among.map(({plural, shortNames}) => ({word: before + plural + after, about: shortNames.join(', ')}));

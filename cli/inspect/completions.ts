// What could stand where the cursor is in the inspector's shell: verbs, flags and their values, live places, members of a state, marks.

import {kinds} from '../../api/catalogue.js';
import {controlSystem} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {FlagSpec} from '../command.js';
import {faultWords} from './fault-words.js';
import {parseLine, type Word} from './line.js';
import {isMemberPath, memberPathText, parseMemberPath} from './member-path.js';
import {meaningsOf, objectsOfKind, type Place} from './places.js';
import {childrenAt, resolve, systemNames} from './resolve.js';
import {flagsOf} from './run-line.js';
import {hasParts, partsOf} from './shown-parts.js';
import type {Shell, VerbSpec} from './verb.js';
import {findVerb} from './verb-words.js';

/** Words that begin with what is typed, and how much of the line they take the place of. */
export type Completed = {readonly words: readonly string[]; readonly typed: string};

const nothing: Completed = {words: [], typed: ''};

/** Of a line up to the cursor. Silent about everything that goes wrong: a prompt is no place for errors. */
export async function complete(line: string, shell: Shell): Promise<Completed> {
	const {words, isInWord, open} = parseLine(line);
	if (open === 'bracket') return nothing;
	const before = isInWord ? words.slice(0, -1) : words;
	const typed = isInWord ? (words.at(-1)?.text ?? '') : '';
	const raw = isInWord ? line.slice(words.at(-1)?.from ?? 0) : '';
	const found = await candidates(before, typed, shell).catch(() => []);
	const fitting = found.filter(word => word.startsWith(typed)).slice(0, limits.completions);
	return {words: [...new Set(fitting)].toSorted().map(word => endingOf(raw.startsWith("'") ? `'${word}` : word)), typed: raw};
}

/** A space behind what is whole; none where more can follow, as below a member that has some itself. */
const endingOf = (word: string): string => (/[/=.]$/.test(word) ? word : word.endsWith(goesOn) ? word.slice(0, -1) : `${word} `);

/** At the end of a candidate: no space behind it. No name has it. */
const goesOn = '\0';

async function candidates(before: readonly Word[], typed: string, shell: Shell): Promise<readonly string[]> {
	const [verb, ...rest] = before.map(({text}) => text);
	if (verb === undefined) {
		const names = shell.verbs.map(({name}) => name);
		return typed.includes('/') || typed.startsWith('.') ? placesFor(typed, shell) : names;
	}
	const spec = findVerb(verb, shell.verbs);
	if (spec === undefined) return [];
	const flags = Object.entries(flagsOf(spec));
	const open = openFlag(rest.at(-1) ?? '', flags);
	if (open !== undefined) return valuesOf(open[1], '');
	const written = /^--([\w-]+)=/.exec(typed);
	if (written !== null) {
		const flag = flags.find(([name]) => name === written[1]);
		return flag === undefined ? [] : valuesOf(flag[1], written[0]);
	}
	if (typed.startsWith('-')) return flags.map(([name]) => `--${name}`);
	return wordsOf(spec, rest, typed, shell);
}

/** A flag that waits for its value. */
function openFlag(word: string, flags: readonly (readonly [string, FlagSpec])[]): readonly [string, FlagSpec] | undefined {
	return flags.find(
		([name, {short, type}]) => type !== 'boolean' && (word === `--${name}` || (short !== undefined && word === `-${short}`)),
	);
}

const valuesOf = ({choices = []}: FlagSpec, before: string): readonly string[] => choices.map(choice => before + choice);

async function wordsOf(spec: VerbSpec, rest: readonly string[], typed: string, shell: Shell): Promise<readonly string[]> {
	switch (spec.takes) {
		case 'nothing':
			return [];
		case 'verbs':
			return rest.length === 0 ? shell.verbs.map(({name}) => name) : [];
		case 'faults':
			return faultFor(rest, typed, shell);
		case 'marks':
			return [...shell.memory.marks.keys(), ...(await placesFor(typed, shell))];
		case 'state': {
			const word = rest.find(each => !each.startsWith('-') && !isMemberPath(each));
			return isMemberPath(typed) ? membersFor(typed, word, shell) : placesFor(typed, shell);
		}
		case 'places':
			return placesFor(typed, shell);
	}
}

/** First what fault, then where; `list` is of all places. */
async function faultFor(rest: readonly string[], typed: string, shell: Shell): Promise<readonly string[]> {
	const [word, place] = rest.filter((each, at) => !each.startsWith('-') && !isFlagWithValue(rest[at - 1]));
	if (word === undefined) return faultWords;
	if (place !== undefined || word === 'list') return [];
	return word === 'partition' ? (await systemNames(shell)).filter(name => name !== controlSystem) : placesFor(typed, shell);
}

const isFlagWithValue = (word = ''): boolean => /^--(for|delay|share|namespace|output)$|^-[no]$/.test(word);

/** Names below the place that is typed so far; `pod/` has those of all pods of the namespace. */
async function placesFor(typed: string, shell: Shell): Promise<readonly string[]> {
	const slash = typed.lastIndexOf('/');
	const head = typed.slice(0, slash + 1);
	const found = await Promise.all([slash < 0 ? firstWords(shell) : [], below(head, shell), objectsOf(head, shell)]);
	return found.flat();
}

/** Where one stands: all that is below is found by `below`. */
async function firstWords(shell: Shell): Promise<readonly string[]> {
	return [...(await systemNames(shell)).map(name => `${name}/`), ...kinds.map(({singular}) => `${singular}/`), 'hand/', '../'];
}

async function below(head: string, shell: Shell): Promise<readonly string[]> {
	const systems = await systemNames(shell);
	const meanings: readonly {readonly place: Place}[] =
		head === ''
			? [{place: shell.memory.here}]
			: meaningsOf(head === '/' ? '/' : head.replace(/\/$/, ''), shell.memory.here, systems, shell.namespace);
	for (const {place} of meanings) {
		const children = await childrenAt(place, shell).catch(() => undefined);
		// As a shell completes folders: the next Tab goes on below.
		if (children !== undefined) return children.map(({name, hasChildren}) => `${head}${name}${hasChildren ? '/' : ''}`);
	}
	return [];
}

/** `pod/` and `hand/` are no places, but their objects have some. */
async function objectsOf(head: string, shell: Shell): Promise<readonly string[]> {
	const [kindWord = '', ...more] = head.split('/');
	if (more.length !== 1) return [];
	const objects = objectsOfKind(kindWord, shell.namespace);
	if (objects === undefined) return [];
	const {collection, prefix} = objects;
	const children = await childrenAt(collection, shell).catch(() => []);
	return children.filter(({name}) => name.startsWith(prefix)).map(({name}) => head + name.slice(prefix.length));
}

/** Members of the state, as deep as it is typed; those of the member itself where it is typed whole. */
async function membersFor(typed: string, word: string | undefined, shell: Shell): Promise<readonly string[]> {
	const {place} = await resolve(word, shell);
	const below = async (at: readonly string[]): Promise<readonly string[]> => {
		const {state} = await shell.session.ask({verb: 'state', place, at, depth: 1});
		return (partsOf(state)?.entries ?? []).map(([name, value]) => `${memberPathText([...at, name])}${hasParts(value) ? goesOn : ''}`);
	};
	const cut = Math.max(typed.lastIndexOf('.'), typed.lastIndexOf('['));
	const beside = await below(parseMemberPath(typed.slice(0, cut) || '.'));
	return beside.includes(typed + goesOn) ? below(parseMemberPath(typed)) : beside;
}

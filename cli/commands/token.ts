// `troupe token`: logins of people and tools, and tokens for hosts that are to join. A token is shown once, when it is made.

import {ageOf, parseDuration} from '../../api/duration.js';
import {limits} from '../../api/limits.js';
import {tokensPath, type TokenAnswer, type TokenRow} from '../../api/join.js';
import {didYouMean} from '../../api/suggest.js';
import {readTopicRights, type TopicRights} from '../../api/topic-rights.js';
import type {Json} from '../../api/object.js';
import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {printedWhole} from '../objects/output.js';
import {withClient} from '../cluster/session.js';
import {drawTable} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';

const verbs = ['create', 'list', 'delete'];

export async function run(invocation: Invocation): Promise<number> {
	const [verb = '', name, ...more] = invocation.inputs;
	if (!verbs.includes(verb))
		throw usageError(
			verb === '' ? 'create, list or delete? as in: troupe token list' : `unknown verb "${verb}" of token${didYouMean(verb, verbs)}`,
		);
	if (more.length > 0 || (verb === 'list' && name !== undefined)) throw usageError(`${verb} takes no "${more[0] ?? name ?? ''}"`);
	if (verb === 'list') return withClient(invocation, client => list(client, invocation));
	if (verb === 'create') return create(invocation, name);
	if (name === undefined) throw usageError('delete takes the name of a token: troupe token list shows them');
	return withClient(invocation, client => remove(client, name, invocation));
}

function create(invocation: Invocation, name: string | undefined): Promise<number> {
	const {terminal} = invocation;
	const body = requestOf(invocation, name);
	return withClient(invocation, async client => {
		const made = (await client.json({method: 'POST', path: tokensPath, body})) as TokenAnswer;
		if (!isWide(invocation) && (await printedWhole(invocation, made))) return 0;
		terminal.out(`${made.token}\n`);
		terminal.note(`note: this is the only time it is shown; ${expiryText(made)}; troupe token delete ${made.name} takes it back`);
		if (made.role === 'join') terminal.note(`note: on the host that is to join: troupe agent --join ${client.server} --token …`);
		return 0;
	});
}

function requestOf({flags}: Invocation, name: string | undefined): Json {
	const ttl = flags.text('ttl');
	const ttlMs = ttl === undefined ? undefined : parseDuration(ttl);
	if (ttl !== undefined && (ttlMs === undefined || ttlMs < 1_000))
		throw usageError(`--ttl must be a time such as 30m or 720h, got "${ttl}"`);
	const expiry = ttlMs === undefined ? {} : {ttlSeconds: ttlMs / 1_000};
	if (ttlMs !== undefined && ttlMs > limits.tokenTtlMaxMs)
		throw usageError(`--ttl must be at most ${limits.tokenTtlMaxMs / 3_600_000}h, got "${ttl ?? ''}"`);
	const role = flags.text('role');
	const topics = topicsOf(flags);
	if (flags.on('join')) {
		if (name !== undefined || role !== undefined) throw usageError('--join takes no name and no role: what joins gets its own login');
		if (topics !== undefined) throw usageError('--join takes no topics: nodes have none but their own');
		return {join: true, ...expiry};
	}
	if (name === undefined || role === undefined)
		throw usageError('create takes a name and a role, as in: troupe token create ci --role edit; or --join for a host that is to join');
	return {name, role, ...expiry, ...(topics === undefined ? {} : {topics})};
}

/** Looked at here as well, so that a slip is told with its flag. */
function topicsOf(flags: Invocation['flags']): Json | undefined {
	const [publish, subscribe] = [flags.texts('publish'), flags.texts('subscribe')];
	const [messages, bytes] = [rateOf(flags, 'messages-per-second'), rateOf(flags, 'bytes-per-second')];
	const topics = {
		...(publish.length === 0 ? {} : {publish}),
		...(subscribe.length === 0 ? {} : {subscribe}),
		...(messages === undefined ? {} : {messagesPerSecond: messages}),
		...(bytes === undefined ? {} : {bytesPerSecond: bytes}),
	};
	if (Object.keys(topics).length === 0) return undefined;
	const read = readTopicRights(topics);
	if (!read.ok) throw usageError(`--${read.message.replace(/^\w+/, name => flagNames[name] ?? name)}`);
	return topics;
}

const flagNames: Readonly<Record<string, string>> = {messagesPerSecond: 'messages-per-second', bytesPerSecond: 'bytes-per-second'};

function rateOf(flags: Invocation['flags'], name: string): number | undefined {
	const text = flags.text(name);
	if (text !== undefined && !/^\d{1,15}$/.test(text)) throw usageError(`--${name} must be a whole number, got "${text}"`);
	return text === undefined ? undefined : Number(text);
}

const expiryText = ({createdAtMs, expiresAtMs}: TokenRow): string =>
	expiresAtMs === undefined ? 'it does not expire' : `it expires in ${ageOf(expiresAtMs - createdAtMs)}`;

async function list(client: Client, invocation: Invocation): Promise<number> {
	const {tokens} = (await client.json({path: tokensPath})) as {readonly tokens: readonly TokenRow[]};
	const wide = isWide(invocation);
	if (!wide && (await printedWhole(invocation, {tokens}))) return 0;
	const nowMs = Date.now();
	const rows = tokens
		.toSorted((a, b) => (a.name < b.name ? -1 : 1))
		.map(({name, role, createdAtMs, expiresAtMs, topics}) => [
			name,
			role,
			ageOf(nowMs - createdAtMs),
			expiresAtMs === undefined ? '<never>' : `in ${ageOf(expiresAtMs - nowMs)}`,
			...(wide ? wideCells(topics) : []),
		]);
	const heads = ['NAME', 'ROLE', 'AGE', 'EXPIRES', ...(wide ? wideHeads : [])];
	invocation.terminal.out(drawTable(heads, rows, await widthFor(rows.flat())));
	return 0;
}

const isWide = ({flags}: Invocation): boolean => flags.text('output') === 'wide';

const wideHeads = ['PUBLISH', 'SUBSCRIBE', 'MESSAGES/S', 'BYTES/S'];

const wideCells = ({publish, subscribe, messagesPerSecond, bytesPerSecond}: TopicRights = {}): readonly string[] => [
	publish?.join(',') ?? '<none>',
	subscribe?.join(',') ?? '<none>',
	String(messagesPerSecond ?? limits.userMessagesPerSecond),
	String(bytesPerSecond ?? limits.userBytesPerSecond),
];

async function remove(client: Client, name: string, {flags, terminal}: Invocation): Promise<number> {
	const query = flags.on('yes') ? {own: true} : {};
	await client.json({method: 'DELETE', path: `${tokensPath}/${encodeURIComponent(name)}`, query});
	terminal.out(`token "${name}" deleted\n`);
	return 0;
}

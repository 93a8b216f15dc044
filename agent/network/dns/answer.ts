// From the bytes of a question to those of its answer. What is no question gets none; what is a wrong one is told so.

import {decode, encode, type Answer, type DecodedPacket, type Question as PacketQuestion} from 'dns-packet';
import {limits} from '../../../api/limits.js';
import {valueOr} from '../../../api/value-or.js';
import type {KeptAnswers} from './kept-answers.js';
import {rcodes, type Rcode, type Resolved} from './resolved.js';
import type {Resolver} from './resolver.js';

const headerBytes = 12;
/** Without EDNS a datagram is no longer (RFC 1035 section 4.2.1). */
const plainDatagramBytes = 512;
const flags = {response: 0x8000, authoritative: 0x400, truncated: 0x200, recursionDesired: 0x100, recursionAvailable: 0x80};

export type Way = 'udp' | 'tcp';

/** Undefined: nothing is said to that. In a datagram an answer that is too long is cut to nothing, and the client asks again over TCP. */
export const answerTo = (data: Buffer, way: Way, resolver: Resolver, kept: KeptAnswers): Buffer | Promise<Buffer | undefined> =>
	kept.get(data) ?? lookedUp(data, way, resolver, kept);

async function lookedUp(data: Buffer, way: Way, {resolve}: Resolver, kept: KeptAnswers): Promise<Buffer | undefined> {
	if (data.length < headerBytes || (data.readUInt16BE(2) & flags.response) !== 0) return undefined;
	const query = valueOr(undefined, () => decode(data));
	if (query === undefined) return refusal(data, 'FORMERR');
	if (operationOf(data) !== 0) return refusal(data, 'NOTIMP');
	const {questions: [question, ...others] = []} = query;
	if (question === undefined || others.length > 0) return refusal(data, 'FORMERR');
	if (question.class !== 'IN' || isTransfer(question)) return refusal(data, 'REFUSED');
	const keep = kept.begin();
	const resolved = await resolve({name: question.name.toLowerCase(), type: question.type});
	const most = way === 'tcp' ? 65_535 : datagramBytesOf(query);
	const whole = valueOr(undefined, () => encoded(query, question, resolved));
	if (whole === undefined) return refusal(data, 'SERVFAIL');
	if (whole.length <= most) {
		keep(data, resolved, whole);
		return whole;
	}
	const short = encoded(query, question, {...resolved, additionals: []});
	return short.length <= most
		? short
		: encoded(query, question, {...resolved, answers: [], authorities: [], additionals: []}, flags.truncated);
}

const operationOf = (data: Buffer): number => (data.readUInt16BE(2) >> 11) & 15;

const isTransfer = ({type}: PacketQuestion): boolean => type === 'AXFR' || type === 'IXFR';

const isOption = (answer: Answer): boolean => answer.type === 'OPT';

function datagramBytesOf({additionals = []}: DecodedPacket): number {
	const option = additionals.find(isOption);
	if (option?.type !== 'OPT') return plainDatagramBytes;
	return Math.max(plainDatagramBytes, Math.min(limits.dnsDatagramBytes, option.udpPayloadSize ?? 0));
}

/** The question comes back as it was written, and so does its name in the answers. */
function encoded(query: DecodedPacket, question: PacketQuestion, resolved: Resolved, more = 0): Buffer {
	const lower = question.name.toLowerCase();
	const named = (answer: Answer): Answer => (answer.name.toLowerCase() === lower ? {...answer, name: question.name} : answer);
	const option: readonly Answer[] = (query.additionals ?? []).some(isOption)
		? [
				{
					type: 'OPT',
					name: '.',
					udpPayloadSize: limits.dnsDatagramBytes,
					extendedRcode: 0,
					ednsVersion: 0,
					flags: 0,
					flag_do: false,
					options: [],
				},
			]
		: [];
	return encode({
		type: 'response',
		id: query.id ?? 0,
		flags:
			flags.recursionAvailable |
			((query.flags ?? 0) & flags.recursionDesired) |
			(resolved.isAuthoritative ? flags.authoritative : 0) |
			more |
			rcodes[resolved.rcode],
		questions: [question],
		answers: resolved.answers.map(named),
		authorities: [...resolved.authorities],
		additionals: [...resolved.additionals, ...option],
	});
}

/** The header alone, with the id of the question. */
function refusal(data: Buffer, rcode: Rcode): Buffer {
	const header = Buffer.alloc(headerBytes);
	header.writeUInt16BE(data.readUInt16BE(0), 0);
	const kept = data.readUInt16BE(2) & (flags.recursionDesired | 0x7800);
	header.writeUInt16BE(flags.response | flags.recursionAvailable | kept | rcodes[rcode], 2);
	return header;
}

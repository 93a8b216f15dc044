// From a question to all that is known: of the cluster's names at once, of others by who knows them, along aliases from the one to the other.

import type {Answer} from 'dns-packet';
import {limits} from '../../../api/limits.js';
import type {Random} from '../../../system/time/random.js';
import type {Question, Resolved} from './resolved.js';
import type {Upstream} from './upstream.js';
import {clusterDomain, type Found, type Zone, type ZoneRecord} from './zone.js';

export type Resolver = {readonly resolve: (question: Question) => Promise<Resolved>};

export type ResolverOptions = {readonly zone: Zone; readonly upstream: Upstream; readonly random: Random};

const ttl = limits.dnsTtlSeconds;

/** Who asks for what is not there may keep that for as long as what is there. A host of a Dns is a zone of its own. */
const soaOf = (name: string): Answer => ({
	type: 'SOA',
	name: name.endsWith(clusterDomain) ? clusterDomain : name,
	ttl,
	data: {
		mname: `ns.dns.${clusterDomain}`,
		rname: `hostmaster.${clusterDomain}`,
		serial: 1,
		refresh: 7_200,
		retry: 1_800,
		expire: 86_400,
		minimum: ttl,
	},
});

/** Aliases of aliases, within the cluster. */
const mostAliases = 8;

export function createResolver({zone, upstream, random}: ResolverOptions): Resolver {
	const resolve = async (question: Question, depth: number): Promise<Resolved> => {
		const found = zone.find(question.name);
		if (found === 'elsewhere') return upstream.ask(question);
		if (found === undefined) return missing('NXDOMAIN', question.name);
		const alias = found.records.find(({type}) => type === 'CNAME');
		if (alias === undefined || alias.type !== 'CNAME' || question.type === 'CNAME') return ofZone(found, question, random);
		const rest =
			depth >= mostAliases ? missing('SERVFAIL', question.name) : await resolve({name: alias.data, type: question.type}, depth + 1);
		return {...rest, isAuthoritative: true, answers: [answerOf(alias), ...rest.answers]};
	};
	return {resolve: question => resolve(question, 0)};
}

const missing = (rcode: 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL', name: string): Resolved => ({
	rcode,
	isAuthoritative: true,
	answers: [],
	authorities: [soaOf(name)],
	additionals: [],
});

const answerOf = (record: ZoneRecord): Answer => ({...record, ttl});

/** A client that takes the first takes another one each time. */
function ofZone({records, additionals}: Found, {name, type}: Question, random: Random): Resolved {
	const wanted = records.filter(each => each.type === type || (type as string) === 'ANY');
	if (wanted.length === 0)
		return type === 'SOA' && name === clusterDomain
			? {...missing('NOERROR', name), answers: [soaOf(name)], authorities: []}
			: missing('NOERROR', name);
	const first = Math.floor(random.next() * wanted.length);
	return {
		rcode: 'NOERROR',
		isAuthoritative: true,
		answers: [...wanted.slice(first), ...wanted.slice(0, first)].map(answerOf),
		authorities: [],
		additionals: additionals.map(answerOf),
	};
}

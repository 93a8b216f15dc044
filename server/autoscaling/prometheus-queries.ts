// Queries of Prometheus for autoscalers, at the hosts that the cluster lists. The same query is asked once for all who want it at about the same time; a
// host that does not answer holds up nobody who asks another one.

import type {LookupFunction} from 'node:net';
import {httpHostOf, httpPlaceOf, mayCall, type HttpPlace} from '../../api/http-hosts.js';
import {limits} from '../../api/limits.js';
import {queryUrlOf, type PrometheusSource} from '../../api/metric-source.js';
import type {Clock} from '../../system/time/clock.js';
import {outgoingAnswer, OutgoingLate} from '../outgoing-http.js';
import {boundedLookup, SpecialAddress} from '../workflows/called-address.js';
import {createTurns, type Turns} from '../workflows/turns.js';
import {prometheusAnswerOf, type PrometheusAnswer} from './prometheus-answer.js';

export type PrometheusQueriesOptions = {
	/** What the ClusterConfig lists now. */
	readonly hosts: () => readonly string[];
	readonly clock: Clock;
	readonly lookup?: LookupFunction | undefined;
};

export type PrometheusQueries = {
	/** Never rejects. */
	readonly ask: (source: PrometheusSource) => Promise<PrometheusAnswer>;
	/** Queries that are asked or wait for their turn. */
	readonly underWay: () => number;
	/** Ends what is under way. */
	readonly close: () => void;
};

type Asked = {readonly answer: Promise<PrometheusAnswer>; readonly atMs: number; isOpen: boolean};

export function createPrometheusQueries({hosts, clock, lookup}: PrometheusQueriesOptions): PrometheusQueries {
	const asked = new Map<string, Asked>();
	const turnsOf = new Map<string, Turns>();
	const underWay = new Set<AbortController>();

	/** Those that are asked there or wait for it. */
	const countAt = (host: string): number => {
		const {underWay: busy, waiting} = turnsOf.get(host)?.counts() ?? {underWay: 0, waiting: 0};
		return busy + waiting;
	};
	/** At most so many at one host: it may be one that hangs. */
	const atHost = async (host: string, signal: AbortSignal, act: () => Promise<PrometheusAnswer>): Promise<PrometheusAnswer> => {
		const turns = turnsOf.get(host) ?? createTurns(limits.prometheusAtOnce);
		turnsOf.set(host, turns);
		try {
			return await turns.take(signal, act);
		} finally {
			if (countAt(host) === 0) turnsOf.delete(host);
		}
	};
	const ask = async (url: string, place: HttpPlace): Promise<PrometheusAnswer> => {
		const listed = hosts();
		const host = httpHostOf(place);
		if (!mayCall(listed, place)) return refused(host);
		if (countAt(host) >= limits.prometheusQueries) return no(`too many queries are asked of ${host} at once`);
		if (underWay.size >= limits.prometheusQueriesInAll) return no('too many queries are asked at once');
		const ending = new AbortController();
		underWay.add(ending);
		const cancel = clock.after(limits.prometheusAnswerMs, () => ending.abort(new OutgoingLate()));
		const request = {
			method: 'GET',
			url,
			headers: {accept: 'application/json'},
			lookup: boundedLookup(listed, place, lookup),
			mostMs: limits.prometheusAnswerMs,
			mostBytes: limits.prometheusAnswerBytes,
		} as const;
		try {
			return await atHost(host, ending.signal, async () => {
				const {status, bytes, isWhole} = await outgoingAnswer(clock, request, ending.signal);
				const answer = isWhole
					? prometheusAnswerOf(status, bytes.toString())
					: no(`its answer has more than ${limits.prometheusAnswerBytes} bytes`);
				return answer.ok ? answer : no(`Prometheus at ${host}: ${answer.why}`);
			});
		} catch (error) {
			if (error instanceof SpecialAddress) return refused(httpHostOf(error.place), host);
			if (error instanceof OutgoingLate) return no(`Prometheus at ${host} did not answer within ${limits.prometheusAnswerMs / 1_000} s`);
			return no(`Prometheus at ${host} cannot be asked: ${(error as Error).message}`);
		} finally {
			cancel();
			underWay.delete(ending);
		}
	};
	return {
		ask(source) {
			const url = queryUrlOf(source);
			const place = url === undefined ? undefined : httpPlaceOf(url);
			if (url === undefined || place === undefined) return Promise.resolve(no('the address of the Prometheus is none'));
			const nowMs = clock.monotonicMs();
			// The oldest come first.
			for (const [key, {atMs, isOpen}] of asked) {
				if (nowMs - atMs < limits.prometheusShareMs) break;
				if (!isOpen) asked.delete(key);
			}
			const present = asked.get(url);
			if (present !== undefined) return present.answer;
			const entry: Asked = {answer: ask(url, place), atMs: nowMs, isOpen: true};
			asked.set(url, entry);
			void entry.answer.finally(() => (entry.isOpen = false));
			return entry.answer;
		},
		underWay: () => underWay.size,
		close() {
			for (const ending of underWay) ending.abort(new Error('the term is over'));
		},
	};
}

const no = (why: string): PrometheusAnswer => ({ok: false, why});

/** `through` is the name that leads there, where it is one. */
const refused = (host: string, through?: string): PrometheusAnswer =>
	no(
		`${through === undefined ? '' : `${through} leads to ${host}, which belongs to this machine, its link or its cloud: `}this cluster does not let autoscalers ask "${host}": it has to be in the list autoscaling.prometheusHosts, as in: troupe config set autoscaling.prometheusHosts ${host} (with a comma between several)`,
	);

// Answers about the cluster's own names as they went out, by the question as it came in: programs ask for the same few names again and again.
//
// What it keeps true: an answer is given again only while nothing of the network has changed since it was looked up; those of other resolvers, and
// those whose records change places from one time to the next, are not among them.

import {limits} from '../../../api/limits.js';
import type {Resolved} from './resolved.js';

export type KeptAnswers = {
	/** The answer to a question in the same bytes, with the id of this one. */
	readonly get: (question: Buffer) => Buffer | undefined;
	/** Called before an answer is looked up: keeps it, unless something has changed since. */
	readonly begin: () => (question: Buffer, resolved: Resolved, answer: Buffer) => void;
	/** Something has changed. */
	readonly drop: () => void;
	readonly size: () => number;
};

const idBytes = 2;

export function createKeptAnswers(): KeptAnswers {
	const kept = new Map<string, string>();
	let changes = 0;
	return {
		get(question) {
			const found = kept.get(keyOf(question));
			if (found === undefined) return undefined;
			const answer = Buffer.from(found, 'latin1');
			question.copy(answer, 0, 0, idBytes);
			return answer;
		},
		begin() {
			const before = changes;
			return (question, resolved, answer) => {
				if (before !== changes || !isAlwaysTheSame(resolved) || question.length + answer.length > limits.dnsKeptBytes) return;
				const [oldest] = kept.keys();
				if (kept.size >= limits.dnsKeptAnswers && oldest !== undefined) kept.delete(oldest);
				// As a text: a small buffer is a part of a larger one, all of which it would hold.
				kept.set(keyOf(question), answer.toString('latin1'));
			};
		},
		drop() {
			changes += 1;
			kept.clear();
		},
		size: () => kept.size,
	};
}

const keyOf = (question: Buffer): string => question.toString('latin1', idBytes);

/** An alias may lead out of the cluster. */
const isAlwaysTheSame = ({isAuthoritative, answers}: Resolved): boolean =>
	isAuthoritative && answers.length <= 1 && answers.every(({type}) => type !== 'CNAME');

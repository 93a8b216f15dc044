// The talk of an inspector with a cluster: what verbs need of it. Over MQTT it is `mqtt-session.ts`, over HTTPS `http-session.ts`; tests have their own.

import type {
	ChangeAnswer,
	ChangeRequest,
	LookAnswer,
	LookRequest,
	OfSystem,
	StreamPortion,
	StreamRequest,
	SystemsLook,
	verbsOfAll,
} from '../../api/inspect.js';

/** What has one answer. */
export type Question = LookRequest | ChangeRequest | {readonly verb: 'systems'};

type AnswerTo<Asked extends Question> = Asked extends {readonly verb: infer Verb}
	? Verb extends keyof LookAnswer
		? LookAnswer[Verb]
		: Verb extends 'systems'
			? SystemsLook
			: ChangeAnswer
	: never;

/** What may be asked of every system. */
type VerbOfAll = (typeof verbsOfAll)[number];

export type Session = {
	/** Throws AppError for every other outcome than an answer; when the signal fires, too: what was not sent is not sent any more. */
	readonly ask: <Asked extends Question>(question: Asked, signal?: AbortSignal) => Promise<AnswerTo<Asked>>;
	/** The same of every system, each with its answer, or why there is none. */
	readonly askAll: <Verb extends VerbOfAll>(
		question: Extract<LookRequest, {verb: Verb}>,
		signal?: AbortSignal,
	) => Promise<readonly OfSystem<LookAnswer[Verb]>[]>;
	/** Portions until one says that the stream has ended, or the signal fires, which ends it there, too. Throws AppError where it cannot begin. */
	readonly stream: (request: StreamRequest, signal: AbortSignal) => AsyncIterable<StreamPortion>;
	/** Is told, a line each, when the connection is lost and when it is there again. */
	readonly onNews: (listener: (line: string) => void) => void;
	/** Whom it speaks with, and as whom: `https://127.0.0.1:6443 as admin`. */
	readonly about: string;
	readonly close: () => Promise<void>;
};

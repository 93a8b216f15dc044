// The images of the docker runtime: there before a container starts, listed, and removed when they fill the disk.

import path from 'node:path';
import {succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {RuntimeEvent} from '../../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../../actors/node/runtime/secrets-port.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import type {Sessions} from '../../exec-sessions.js';
import type {Handlers} from '../../handlers.js';
import {explained, systemFailure} from '../../os/explained.js';
import type {Engine} from '../engine/engine.js';
import {bringImage} from './bring.js';
import {ensureImage, type EnsureCommand} from './ensure.js';
import {collectGarbage, type DiskUse} from './garbage.js';
import {createImageSessions} from './image-sessions.js';
import {listImages} from './list.js';
import type {PullProgress} from './pull-progress.js';
import {createPulls} from './pulls.js';
import {createRemembered} from './remembered.js';

export type ImagesOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	readonly secrets: NodeSecrets;
	/** Where it remembers what came by this agent; it is there. */
	readonly directory: string;
	/** Hears how far pulls for containers are. */
	readonly onEvent: (event: RuntimeEvent & {readonly type: 'pulling'}) => void;
	readonly onWarning: (message: string) => void;
	/** Of people who bring images. */
	readonly sessions: Sessions;
	/** Why the Engine does not answer; undefined: it does. */
	readonly engineProblem: () => string | undefined;
	readonly diskUse?: DiskUse;
};

export type Images = {
	readonly handlers: Pick<Handlers, 'image.ensure' | 'image.list' | 'image.open'>;
	/** Ends pulls that are under way; what they fetched the Engine keeps. */
	readonly close: () => Promise<void>;
};

export function createImages(options: ImagesOptions): Images {
	const {engine, clock, secrets, directory, onEvent, onWarning} = options;
	const pulls = createPulls({engine, clock});
	const remembered = createRemembered({file: path.join(directory, 'images.json'), clock, onWarning});
	const ensuring = {
		engine,
		pulls,
		secrets,
		onUse: (id: string, name: string | undefined) => (name === undefined ? remembered.use(id) : remembered.add(id, name)),
	};
	const keep = (id: string): void => {
		remembered.forget(id);
		void remembered.save();
	};
	const bringing = {...ensuring, clock, onKept: keep};
	const brought = createImageSessions({...options, bring: (request, session) => bringImage(bringing, request, session)});
	const stopCollecting = again(clock, limits.imageGarbageMs, async () => {
		// An Engine that does not answer has other ways to say so.
		await collectGarbage({...options, remembered}).catch((error: unknown) =>
			onWarning(`images were not looked through: ${explained(error)}`),
		);
	});
	return {
		handlers: {
			'image.ensure'(command, done) {
				void answered(
					ensureImage(ensuring, command, progress => onEvent(newsOf(command, progress))),
					done,
				);
			},
			'image.list'(_command, done) {
				void answered(
					listImages(engine).then(images => succeeded({images})),
					done,
				);
			},
			'image.open': ({request}, done) => done(brought.open(request)),
		},
		close() {
			stopCollecting();
			pulls.close();
			return remembered.save();
		},
	};
}

/** Each time so long after it was done. */
function again(clock: Clock, everyMs: number, act: () => Promise<void>): Cancel {
	let isOver = false;
	let cancel: Cancel = () => undefined;
	const wait = (): void => {
		if (!isOver) cancel = clock.after(everyMs, () => void act().then(wait));
	};
	wait();
	return () => {
		isOver = true;
		cancel();
	};
}

const newsOf = ({id, namespace, podName}: EnsureCommand, progress: PullProgress): RuntimeEvent & {readonly type: 'pulling'} => ({
	type: 'pulling',
	id,
	namespace,
	podName,
	...progress,
});

/** What the Engine refuses is an outcome. */
async function answered<Value>(work: Promise<Outcome<Value>>, done: (outcome: Outcome<Value>) => void): Promise<void> {
	done(await work.catch(systemFailure));
}

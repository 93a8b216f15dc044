// postStart and preStop: what the manifest asks for as something to do or a time to sleep. Pure.

import type {Container} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import type {Context, Effect} from '../../../system/kernel/behavior.js';
import {actionOf} from './action.js';
import {timer} from './container-state.js';
import type {ContainerAction} from '../runtime/runtime-port.js';

export type HookName = 'postStart' | 'preStop';

export type Hook =
	| {readonly type: 'act'; readonly action: ContainerAction}
	| {readonly type: 'sleep'; readonly ms: number}
	/** It can never be done. */
	| {readonly type: 'wrong'; readonly problem: string};

/** The edge had no room for it: that is no failure of the hook. */
export const hookAgain = (hook: HookName, attempt: number, {nowMs}: Context): Effect =>
	timer('hook', nowMs + limits.hookAgainMs, limits.hookAgainMs, {type: 'hookAgain', hook, attempt});

/** Undefined: the container has no such hook. */
export function hookOf(name: HookName, container: Container, podIP: string): Hook | undefined {
	const handler = container.lifecycle?.[name];
	if (handler === undefined) return undefined;
	if (handler.sleep !== undefined) return {type: 'sleep', ms: 1_000 * handler.sleep.seconds};
	const action = actionOf(handler, container, podIP);
	return action.ok ? {type: 'act', action: action.value} : {type: 'wrong', problem: action.problem};
}

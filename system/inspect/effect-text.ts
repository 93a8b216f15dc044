// An effect in a line, as a trace tells it.

import {limits} from '../../api/limits.js';
import type {Effect, Next} from '../kernel/behavior.js';
import {cut} from './tree-look.js';

/** What a step asked for, in its order. */
export function effectLines({effects, stop}: Next<unknown>): readonly string[] {
	const shown = effects.slice(0, limits.traceEffects).map(effect => cut(textOf(effect)));
	const left = effects.length - shown.length;
	return [...shown, ...(left > 0 ? [`… ${left} more`] : []), ...(stop === true ? ['stop'] : [])];
}

function textOf(effect: Effect): string {
	switch (effect.type) {
		case 'tell':
			return `tell ${effect.to}  ${effect.message.type}`;
		case 'ask':
			return `ask ${effect.to}  ${effect.message.type}, as ${effect.as}`;
		case 'reply':
			return `reply ${effect.to.to}  ${effect.to.as}: ${effect.outcome.ok ? 'ok' : effect.outcome.error.code}`;
		case 'replySelf':
			return `reply ${effect.to.to}  ${effect.to.as}: its object`;
		case 'spawn':
			return `spawn ${effect.name}  ${effect.behavior}`;
		case 'stopChild':
			return `stopChild ${effect.name}`;
		case 'watch':
		case 'unwatch':
			return `${effect.type} ${effect.address}`;
		case 'declareGone':
			return `declareGone ${effect.system}`;
		case 'create':
			return `create ${effect.object.kind} ${effect.object.metadata.name ?? effect.object.metadata.generateName ?? ''}`;
		case 'update':
			return `update ${effect.key}  ${effect.message.type}`;
		case 'delete':
			return `delete ${effect.key}`;
		case 'perform':
			return `perform ${effect.command.type}  ${effect.key}`;
		case 'wakeAt':
			return `wakeAt ${effect.name}  ${effect.message.type}`;
		case 'cancelWake':
			return `cancelWake ${effect.name}`;
		case 'event':
			return `event ${effect.event} ${effect.reason}: ${effect.message}`;
	}
}

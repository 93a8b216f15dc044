// The rule for the annotation that makes a pod an instance of a function.

import {functionAnnotation, functionContainer, functionInstanceOf} from '../function-instance.js';
import type {Draft} from '../object.js';
import {joinPath} from '../path.js';
import {itemsOf, membersOf, refuse, type Found} from './report.js';

export function checkFunctionInstance(found: Found, {metadata, spec}: Draft): void {
	const {annotations} = metadata;
	if (annotations?.[functionAnnotation] === undefined) return;
	const path = joinPath('metadata.annotations', functionAnnotation);
	const instance = functionInstanceOf(annotations);
	if (instance === undefined)
		return refuse(found, path, 'must be JSON with artifact, runtime, concurrency and timeoutMs, as the pods of a Function have it');
	const containers = itemsOf(membersOf(spec)['containers']).map(membersOf);
	const [only] = containers;
	if (containers.length !== 1 || only?.['name'] !== functionContainer || only['args'] !== undefined)
		return refuse(found, path, `belongs to a pod of one container, "${functionContainer}", without args`);
	const isProgram = instance.runtime === 'program';
	if (isProgram !== itemsOf(only['command']).length > 0)
		refuse(found, path, `with runtime ${instance.runtime} belongs to a container ${isProgram ? 'with' : 'without'} a command`);
}

// Whether a container is the one of an instance of a function. Pure.

import {functionContainer, functionInstanceOf, type FunctionInstance} from '../../../api/function-instance.js';
import type {Container} from '../../../api/kinds/pod.js';
import type {Assignment} from '../../protocol/sync-message.js';

/** Undefined: it is none, but an init container or one of another pod. */
export const instanceIn = ({name}: Container, {annotations}: Pick<Assignment, 'annotations'>): FunctionInstance | undefined =>
	name === functionContainer ? functionInstanceOf(annotations) : undefined;

// The schemas that others refer to by name (`shared`).

import type {TSchema} from 'typebox';
import {container, handler, probe} from './container.js';
import {metadata} from './metadata.js';
import {condition, labelSelector, type DefinitionName} from './parts.js';
import {containerStatus, spec as podSpec} from './pod.js';

export const definitions: Record<DefinitionName, TSchema> = {
	Condition: condition(),
	Container: container(),
	ContainerStatus: containerStatus(),
	LabelSelector: labelSelector(),
	LifecycleHandler: handler(),
	Metadata: metadata(),
	PodSpec: podSpec(),
	Probe: probe(),
};

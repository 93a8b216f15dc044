// The schema of a pod without a name of its own, inside whatever makes pods.

import {templateMetadata} from './metadata.js';
import {about, optional, record, shared} from './parts.js';
import type {spec as podSpec} from './pod.js';

export const podTemplate = () =>
	record({
		metadata: optional(about('Labels and annotations that each pod gets.', templateMetadata())),
		spec: about('What each pod is made of.', shared<typeof podSpec>('PodSpec')),
	});

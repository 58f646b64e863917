const times = (count: number, text: string): string => text.repeat(count);
const DOUBLED = `{% assign x = "aaaaaaaaaaaaaaaa" %}${times(16, '{% assign x = x | append: x %}')}`;

/** Templates that want to take the service's time or memory, or to reach what is none of theirs. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'loops within loops':
    '{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}x{% endfor %}{% endfor %}{% endfor %}',
  'a loop over nothing but its turns': '{% for i in (1..1000000) %}{% endfor %}',
  'a range of 900 million': '{% for i in (1..900000000) %}x{% endfor %}',
  'a sorted range': '{{ (1..1000000) | sort_natural | join: "," }}',
  'twenty thousand nested blocks': times(20_000, '{% if a %}'),
  'nested brackets': `{{ ${times(60_000, 'a[')}1${times(60_000, ']')} }}`,
  'text that doubles': `{% assign x = "aaaaaaaaaaaaaaaa" %}{% for i in (1..40) %}{% assign x = x | append: x %}{% endfor %}{{ x }}`,
  'a capture that doubles':
    '{% assign x = "aaaaaaaa" %}{% for i in (1..40) %}{% capture x %}{{ x }}{{ x }}{% endcapture %}{% endfor %}',
  'a chain of twenty thousand times': `{{ "a"${times(20_000, ' | times: 2')} }}`,
  'a date padded to a billion': '{{ "now" | date: "%999999999Y" }}',
  'a replacement with itself': `${DOUBLED}{{ x | replace: "a", x }}`,
  'a million conditions': `{% if ${times(40_000, 'a and ')}a %}x{% endif %}`,
  'sorting in a loop':
    '{% assign a = (1..1000) %}{% for i in (1..10000) %}{% assign b = a | sort_natural | reverse | sort %}{% endfor %}',
  'a filter in ten thousand turns': `${DOUBLED}{% for i in (1..10000) %}{{ x | upcase | downcase | size }}{% endfor %}`,
};

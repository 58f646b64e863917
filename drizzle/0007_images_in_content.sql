-- The files of images that a content shows: the last parts of their addresses. The path is that of src/automation/assets/model.ts.
create function images_in(content json) returns text[] language sql immutable parallel safe as $$
  select coalesce(array_agg(distinct found[1]), '{}')
  from regexp_matches(content::text, '/images/([0-9a-f]{64}\.[a-z]+)', 'g') found
$$;

CREATE INDEX "campaign_settings_by_image" ON "campaign_settings" USING gin (images_in("settings"));
CREATE INDEX "template_versions_by_image" ON "template_versions" USING gin (images_in("content"));

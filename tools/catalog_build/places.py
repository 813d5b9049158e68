"""Regions: id, country (ISO 3166), place. The facts are from the vendors' public lists of regions.

Restricted regions are available to some customers only (government, one country's operator, early access). A search
leaves them out unless the user names them.
"""

AWS = """
af-south-1 ZA Cape Town|ap-east-1 HK Hong Kong|ap-east-2 TW Taipei|ap-northeast-1 JP Tokyo
ap-northeast-2 KR Seoul|ap-northeast-3 JP Osaka|ap-south-1 IN Mumbai|ap-south-2 IN Hyderabad
ap-southeast-1 SG Singapore|ap-southeast-2 AU Sydney|ap-southeast-3 ID Jakarta
ap-southeast-4 AU Melbourne|ap-southeast-5 MY Malaysia|ap-southeast-7 TH Thailand
ca-central-1 CA Montreal|ca-west-1 CA Calgary|eu-central-1 DE Frankfurt|eu-central-2 CH Zurich
eu-north-1 SE Stockholm|eu-south-1 IT Milan|eu-south-2 ES Spain|eu-west-1 IE Ireland
eu-west-2 GB London|eu-west-3 FR Paris|il-central-1 IL Tel Aviv|me-central-1 AE Emirates
me-south-1 BH Bahrain|mx-central-1 MX Mexico|sa-east-1 BR Sao Paulo|us-east-1 US N. Virginia
us-east-2 US Ohio|us-gov-east-1 US Gov East|us-gov-west-1 US Gov West|us-west-1 US N. California
us-west-2 US Oregon
"""

AZURE = """
australiacentral AU Canberra|australiacentral2 AU Canberra|australiaeast AU Sydney
australiasoutheast AU Melbourne|austriaeast AT Vienna|brazilsouth BR Sao Paulo
brazilsoutheast BR Rio de Janeiro|canadacentral CA Toronto|canadaeast CA Quebec
centralindia IN Pune|centralus US Iowa|chilecentral CL Santiago|eastasia HK Hong Kong
eastus US Virginia|eastus2 US Virginia|francecentral FR Paris|francesouth FR Marseille
germanynorth DE Berlin|germanywestcentral DE Frankfurt|indonesiacentral ID Jakarta
israelcentral IL Israel|italynorth IT Milan|japaneast JP Tokyo|japanwest JP Osaka
jioindiacentral IN Nagpur|jioindiawest IN Jamnagar|koreacentral KR Seoul|koreasouth KR Busan
malaysiawest MY Kuala Lumpur|mexicocentral MX Queretaro|newzealandnorth NZ Auckland
northcentralus US Illinois|northeurope IE Ireland|norwayeast NO Oslo|norwaywest NO Stavanger
polandcentral PL Warsaw|qatarcentral QA Doha|southafricanorth ZA Johannesburg
southafricawest ZA Cape Town|southcentralus US Texas|southeastasia SG Singapore
southindia IN Chennai|spaincentral ES Madrid|swedencentral SE Gavle|swedensouth SE Malmo
switzerlandnorth CH Zurich|switzerlandwest CH Geneva|uaecentral AE Abu Dhabi|uaenorth AE Dubai
uksouth GB London|ukwest GB Cardiff|westcentralus US Wyoming|westeurope NL Netherlands
westindia IN Mumbai|westus US California|westus2 US Washington|westus3 US Arizona
"""

GCP = """
africa-south1 ZA Johannesburg|asia-east1 TW Taiwan|asia-east2 HK Hong Kong
asia-northeast1 JP Tokyo|asia-northeast2 JP Osaka|asia-northeast3 KR Seoul
asia-south1 IN Mumbai|asia-south2 IN Delhi|asia-southeast1 SG Singapore
asia-southeast2 ID Jakarta|asia-southeast3 TH Bangkok|australia-southeast1 AU Sydney
australia-southeast2 AU Melbourne|europe-central2 PL Warsaw|europe-north1 FI Hamina
europe-north2 SE Stockholm|europe-southwest1 ES Madrid|europe-west1 BE St. Ghislain
europe-west10 DE Berlin|europe-west12 IT Turin|europe-west2 GB London|europe-west3 DE Frankfurt
europe-west4 NL Eemshaven|europe-west6 CH Zurich|europe-west8 IT Milan|europe-west9 FR Paris
me-central1 QA Doha|me-central2 SA Dammam|me-west1 IL Tel Aviv
northamerica-northeast1 CA Montreal|northamerica-northeast2 CA Toronto
northamerica-south1 MX Queretaro|southamerica-east1 BR Sao Paulo|southamerica-west1 CL Santiago
us-central1 US Iowa|us-east1 US South Carolina|us-east4 US N. Virginia|us-east5 US Columbus
us-south1 US Dallas|us-west1 US Oregon|us-west2 US Los Angeles|us-west3 US Salt Lake City
us-west4 US Las Vegas
"""

# Vendors with one price for several places, which are the aliases. If the places are in more than one country, the
# country is EU or unknown ("-").
SMALL = {
    "hetzner": [("eu", "EU", "Falkenstein, Nuremberg, Helsinki", "fsn1 nbg1 hel1 eu-central")],
    "ovh": [("eu", "EU", "Gravelines, Strasbourg, Roubaix, Warsaw, Frankfurt",
             "gra sbg rbx waw de")],
    "upcloud": [("eu", "EU", "Frankfurt, Helsinki, Amsterdam, London, Madrid, Warsaw",
                 "de-fra1 fi-hel1 fi-hel2 nl-ams1 uk-lon1 es-mad1 pl-waw1")],
    "vultr": [("global", "-", "most Vultr locations", "ewr ord dfw sea lax atl ams lhr fra cdg")],
    "scaleway": [("fr-par-1", "FR", "Paris", "fr-par")],
}

GROUPS = {"aws": AWS, "azure": AZURE, "gcp": GCP}

# id -> (name, other ids, billing step in s, minimum in s, note)
VENDORS = {
    "aws": ("Amazon Web Services", "amazon", 1, 60, "Linux, by the second"),
    "azure": ("Microsoft Azure", "microsoft", 1, 300,
              "a stopped machine is charged until it is deallocated"),
    "gcp": ("Google Cloud", "google", 1, 60, "by the second"),
    "hetzner": ("Hetzner Cloud", "hcloud", 3600, 3600, "by the hour, with a monthly cap"),
    "ovh": ("OVHcloud", "ovhcloud", 3600, 3600, "by the hour"),
    "upcloud": ("UpCloud", "-", 3600, 3600, "by the hour"),
    "vultr": ("Vultr", "-", 3600, 3600, "by the hour, 1/672 of the monthly price"),
    "scaleway": ("Scaleway", "-", 3600, 3600, "taken as whole hours"),
    "alicloud": ("Alibaba Cloud", "aliyun", 1, 600, "minimum 120 to 600 s by size"),
}


def is_restricted(vendor, region):
    """Whether a region or zone is not available to all customers."""
    if vendor == "aws":
        return region.startswith(("us-gov-", "cn-")) or region.count("-") > 2
    if vendor == "azure":
        return region.startswith(("jioindia", "usgov", "usdod", "china")) or "euap" in region
    return False


def regions(vendor):
    """[(id, country, place, aliases)] of a vendor, in order of id."""
    if vendor in SMALL:
        return SMALL[vendor]
    found = []
    for entry in GROUPS.get(vendor, "").strip().replace("\n", "|").split("|"):
        if entry:
            name, country, place = entry.split(" ", 2)
            found.append((name, country, place, "-"))
    return sorted(found)

"""The names of emoji that the workspace has: those that people and agents use, not all that Slack ships."""

from __future__ import annotations

_NAMES = """
+1 -1 100 1234 adhesive_bandage airplane alarm_clock alien ambulance anchor angel anger angry apple arrow_down
arrow_left arrow_right arrow_up arrows_counterclockwise art astonished balloon bar_chart battery beer beers beetle
bell birthday blue_heart blush bomb book bookmark books boom bouquet brain broken_heart bug bulb bus cactus cake
calendar camera candle car card_index cat chart_with_downwards_trend chart_with_upwards_trend checkered_flag
cherry_blossom clap clapper clipboard clock1 clock12 cloud clown_face coffee collision computer confetti_ball
confused construction cookie cool credit_card crossed_fingers crown cry crying_cat_face crystal_ball cupid date
deciduous_tree diamonds disappointed dizzy dog dollar door dragon dvd ear earth_americas egg eight email envelope
evergreen_tree exclamation eyes face_palm facepunch file_folder fire fireworks fist five flag-at flashlight flushed
four four_leaf_clover frog game_die gear gem ghost gift globe_with_meridians green_apple green_heart grimacing grin
grinning hammer hammer_and_wrench handshake hash headphones hear_no_evil heart heart_eyes hearts heavy_check_mark
heavy_minus_sign heavy_plus_sign hourglass hourglass_flowing_sand house hugging_face hushed inbox_tray
information_source innocent joy key keyboard kiss label ladybug laughing leaves ledger lemon link lock
lock_with_ink_pen loudspeaker love_letter mag mag_right mailbox man-shrugging mega memo microscope moneybag
monkey_face moon mortar_board mountain mouse musical_note nerd_face neutral_face newspaper nine no_entry
no_entry_sign no_good notebook ocean octopus ok ok_hand ok_woman one open_file_folder open_hands open_mouth
orange_heart outbox_tray package page_facing_up palm_tree paperclip partly_sunny partying_face pencil pencil2
penguin pensive phone pill pizza point_down point_left point_right point_up pray pushpin purple_heart question
rabbit radio rainbow raised_back_of_hand raised_hand raised_hands recycle red_circle relaxed relieved repeat rewind
ribbon ring robot_face rocket rolling_on_the_floor_laughing rose rotating_light round_pushpin runner sad
saluting_face satellite satisfied scissors scream scroll see_no_evil seedling seven shamrock sheep shield ship shrug
simple_smile six skull sleeping sleepy slightly_frowning_face slightly_smiling_face smile smiley smirk snail
snowflake snowman sob soon sos sparkles sparkling_heart speak_no_evil speech_balloon star star-struck star2
stopwatch strawberry sun_with_face sunflower sunglasses sunny sunrise sweat sweat_smile syringe tada telescope ten
thinking_face three thumbsdown thumbsup ticket tired_face toolbox tools tractor traffic_light train
triangular_flag_on_post trophy tropical_drink tulip turtle two umbrella unamused unicorn_face unlock
upside_down_face v vertical_traffic_light warning wastebasket watch wave weary whale white_check_mark white_circle
white_flag wink woman-shrugging wrench writing_hand x yellow_heart yum zap zipper_mouth_face zzz
"""

NAMES = frozenset(_NAMES.split())
